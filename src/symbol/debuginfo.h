/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * debuginfo: the DWARF of a program: from an address to its unit and to the
 * entries of the functions that are there.
 */
#ifndef HW_SYMBOL_DEBUGINFO_H
#define HW_SYMBOL_DEBUGINFO_H

#include "symbol/die.h"
#include "symbol/elffile.h"
#include "symbol/half.h"
#include "symbol/locate.h"
#include "symbol/span.h"
#include "symbol/unit.h"
#include "tool/vec.h"

#include <elfutils/libdw.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debuginfo {
    Dwarf *dwarf;  /* NULL: not open */
    Dwarf *shared; /* what dwz moved to another file; NULL = none */
    struct elffile shared_file;
    uint64_t reserve; /* memory that libdw has to find free */
    struct die_limits limits;
    VEC(struct unit) units;
    struct spans spans;
    struct halves halves; /* of units that are split */
    unsigned generation;  /* counts how often entries were forgotten; those handed out before are no more */
    bool is_split;        /* some units are */
    bool is_complete;     /* units that do not say where their code is have been read too */
};

/* libdw ends the program when memory runs out, unless its handler does not come back.  Ours jumps here,
 * out of anything that reads DWARF (this file, units, functions, spelling), so whoever calls these
 * sets it first; and so do we where memory is short (debuginfo.c).  Then debuginfo_abandon. */
extern _Thread_local jmp_buf debuginfo_no_memory;

/* text: the file that says where code is, which may be another one.  The file
 * must stay open as long.  False: it has no DWARF that can be read. */
bool debuginfo_open(struct debuginfo *d, const struct elffile *file, const struct elffile *text,
                    struct locate *l);
/* Accepts a zeroed one. */
void debuginfo_close(struct debuginfo *d);

/* The package that has units of this file; taken.  One that has none of them is closed and refused. */
bool debuginfo_take_package(struct debuginfo *d, struct package *package);

/* After a jump: gives back what is ours, and leaves what libdw was in the middle of. */
void debuginfo_abandon(struct debuginfo *d);

/* The unit at an address, NULL = none; *count entries of functions, innermost
 * first, at most `room`.  Valid until the next call. */
struct unit *debuginfo_find(struct debuginfo *d, uint64_t address, Dwarf_Die *dies, size_t room,
                            size_t *count);

#endif

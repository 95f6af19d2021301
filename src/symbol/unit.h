/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * unit: one compilation unit: its functions by address, and its lines.
 */
#ifndef HW_SYMBOL_UNIT_H
#define HW_SYMBOL_UNIT_H

#include "symbol/die.h"
#include "symbol/function.h"
#include "symbol/half.h"
#include "symbol/linerows.h"
#include "symbol/span.h"
#include "tool/vec.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UNIT_PATH_MAX = 4096 };

enum unit_state {
    UNIT_NEW,
    UNIT_SHALLOW, /* functions outside others and outside classes are known */
    UNIT_DEEP,    /* all are known */
};

struct unit {
    Dwarf_Die die;    /* in the file itself: has the lines */
    Dwarf_Die body;   /* has the functions: the same, or its other half in another file */
    struct half half; /* open while that half is one of a package's */
    struct halves *halves;
    bool says_where; /* it has the addresses of its code */
    bool is_learnt;  /* binary.c has told spelling about the functions */
    bool has_rows;   /* the rows have been read, as the linker has dropped some */
    enum unit_state state;
    VEC(struct function) functions;
    struct spans spans;
    struct linerows rows;
};

void unit_init(struct unit *u, const Dwarf_Die *die, struct halves *halves);
void unit_release(struct unit *u);

/* The function at an address, NULL = none.  Valid until the next call. */
struct function *unit_find(struct unit *u, struct die_limits *l, uint64_t address);
/* As it was before it was first asked; entries that it has given are no more. */
void unit_forget(struct unit *u);
/* Whether part of it is in another file (-gsplit-dwarf) that is not there, and in no package; `path` gets its
 * name. */
bool unit_lacks_half(struct unit *u, char *path, size_t size);
/* Reads all functions; for units that do not say where their code is. */
void unit_read(struct unit *u, struct die_limits *l);

/* File and line of an address by the line table; false: it has none there. */
bool unit_find_line(struct unit *u, struct die_limits *l, uint64_t address, const char **file,
                    uint32_t *line);

#endif

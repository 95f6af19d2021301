/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * half: the other half of a unit (-gsplit-dwarf), out of a package (package.h),
 * for a libdw that reads .dwo files but no packages, or does not find this one.
 */
#ifndef HW_SYMBOL_HALF_H
#define HW_SYMBOL_HALF_H

#include "symbol/elffile.h"
#include "symbol/package.h"
#include "tool/err.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the halves of a program's units come from.  Zeroed: from nowhere. */
struct halves {
    struct package package;        /* not open: there is none */
    const struct elffile *program; /* has the units' first halves; open in libdw as long as any half */
    Dwarf_OOM no_memory;           /* called when memory runs out; does not come back */
    uint64_t bytes;                /* held by open ones */
    struct err trouble;            /* the first, with the name of the package */
};

/* Zeroed: not open. */
struct half {
    Dwarf *dwarf;
    Elf *elf; /* of the above */
    uint64_t bytes;
};

/* The id by which a unit and its other half know each other.  False: it is whole. */
bool half_get_id(Dwarf_Die *unit, uint64_t *id);

/* Is there a package, and has it this unit? */
bool halves_has(const struct halves *halves, uint64_t id);

/* Opens the half of a unit; *body gets its first entry.  False: there is none, and halves->trouble says
 * why, unless the package just has no such unit. */
bool half_open(struct half *h, struct halves *halves, Dwarf_Die *unit, Dwarf_Die *body);
/* Entries of it are no more.  Accepts a zeroed one. */
void half_close(struct half *h, struct halves *halves);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * modmap: which module an address belonged to at a given generation of the
 * process's module table.
 *
 * Modules are never taken out: a library that goes leaves its entry, and what
 * comes later over the same addresses, be it a library or nothing, has a higher
 * generation and wins for stacks of that generation on.
 */
#ifndef HW_COLLECT_MODMAP_H
#define HW_COLLECT_MODMAP_H

#include "tool/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* From this generation on a place belongs to this module. */
struct modmap_turn {
    uint64_t generation;
    uint32_t number; /* as the recording calls it, from 1; 0: the module there has gone */
};

/* A place, and who had it in turn. */
struct modmap_range {
    uint64_t start, end;
    uint64_t reach;                /* the highest end of all ranges up to this one */
    VEC(struct modmap_turn) turns; /* by generation, then number */
};

struct modmap {
    VEC(struct modmap_range) ranges; /* by start, then end */
};

void modmap_init(struct modmap *m);
void modmap_release(struct modmap *m);
/* False: no memory. */
bool modmap_add(struct modmap *m, uint64_t start, uint64_t end, uint64_t generation, uint32_t number);
/* Number of the newest module of at most this generation that covers address; 0: none. */
uint32_t modmap_find(const struct modmap *m, uint64_t address, uint64_t generation);

#endif

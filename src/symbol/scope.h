/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * scope: the namespaces, classes and functions around an entry.
 *
 * DWARF has no way upwards, so the way is found from the top: at each level,
 * into the child within whose bytes the entry lies.  Where the children of an
 * entry begin is remembered, so that one level costs a binary search from
 * the second time on.
 */
#ifndef HW_SYMBOL_SCOPE_H
#define HW_SYMBOL_SCOPE_H

#include "symbol/die.h"
#include "tool/arena.h"
#include "tool/map.h"
#include "tool/vec.h"

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

enum { SCOPE_DEPTH_MAX = 64 };

struct scopes {
    struct die_limits limits;
    struct arena arena;
    struct map children; /* of an entry -> struct scope_children */
    VEC(uint32_t) found; /* while a list is being made */
};

void scopes_init(struct scopes *s);
void scopes_release(struct scopes *s);
/* Forgets the entries that it was told of, and not what it has spent. */
void scopes_forget(struct scopes *s);

/* The entries around `entry` within its unit, outermost first, without the unit;
 * at most SCOPE_DEPTH_MAX.  The number of them. */
size_t scopes_find(struct scopes *s, Dwarf_Die *unit, Dwarf_Die *entry, Dwarf_Die *around);

#endif

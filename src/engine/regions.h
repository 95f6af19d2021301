/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * regions: what lies where in an address space: ranges that do not overlap, each with
 * a value.
 *
 *     regions_insert   puts a range in place of whatever is there
 *     regions_remove   leaves nothing there
 *
 * What is in the way is cut: at its start, its end, out of its middle, or it goes as a
 * whole; whoever calls hears of each piece that goes.  Neighbours of one value are one.
 */
#ifndef HW_ENGINE_REGIONS_H
#define HW_ENGINE_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/vec.h"

struct region {
    uint64_t start, end; /* start < end */
    uint64_t value;
};

struct regions {
    VEC(struct region) list; /* by rising address */
};

/* A piece goes.  False: no memory. */
typedef bool regions_cut_fn(void *of, const struct region *piece);

void regions_init(struct regions *r);
void regions_release(struct regions *r);
void regions_clear(struct regions *r);
/* cut may be NULL.  An empty range does nothing.  False: no memory, or cut said so; then pieces may
 * be gone already. */
bool regions_insert(struct regions *r, uint64_t start, uint64_t end, uint64_t value, regions_cut_fn *cut,
                    void *of);
bool regions_remove(struct regions *r, uint64_t start, uint64_t end, regions_cut_fn *cut, void *of);
/* The first that ends behind the address; list.count: none. */
size_t regions_find(const struct regions *r, uint64_t address);

#endif

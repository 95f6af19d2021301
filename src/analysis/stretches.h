/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stretches: what there was of a mapping from when to when.  A piece of it that is cut ends, and
 * what is left of it begins.
 *
 *     made      |----------------------|
 *     cut           |-----|                     one ends, two begin
 *     removed   |---|     |------------|        both end
 */
#ifndef HW_ANALYSIS_STRETCHES_H
#define HW_ANALYSIS_STRETCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/maps.h"
#include "tool/vec.h"

struct stretch {
    uint64_t start, end;
    uint64_t from_ns, to_ns; /* to_ns: if it has ended */
    bool is_left;
    uint64_t call; /* by which it began */
};

struct stretches {
    VEC(struct stretch) list; /* as they began, those of one call by address */
};

void stretches_init(struct stretches *s);
void stretches_release(struct stretches *s);
/* Those of a mapping in place of what is there.  False: no memory. */
bool stretches_set(struct stretches *s, const struct mapping *m);

#endif

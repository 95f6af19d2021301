/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * touch: every event that touched an address: blocks that covered it, their
 * releases, releases of nothing known there, and mappings.
 */
#ifndef HW_QUERY_TOUCH_H
#define HW_QUERY_TOUCH_H

#include <stddef.h>
#include <stdint.h>

#include "query/query.h"
#include "store/reader.h"
#include "tool/err.h"
#include "tool/vec.h"

struct touch {
    uint32_t process;
    uint32_t thread;
    uint32_t stack; /* of a release where it was recorded, or by realloc; 0 = none */
    uint8_t event;  /* enum wake_event */
    uint8_t detail; /* enum record_kind or record_how */
    uint64_t time_ns;
    uint64_t address, size; /* of the block or mapping; size 0 of a release of nothing known */
    uint64_t lived_ns;      /* of a block that is released */
};

struct touches {
    VEC(struct touch) list; /* process by process, in the order of events */
};

void touches_init(struct touches *t);
void touches_release(struct touches *t);
/* q: for its progress and interrupt alone.  ERR_MEMORY; interrupted: 0, with what was seen. */
int touches_read(struct touches *t, const struct query *q, struct wake_reader *r, uint32_t process,
                 uint64_t address, struct err *err);

#endif

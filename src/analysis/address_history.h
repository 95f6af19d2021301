/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * address_history: every event that touched an address: blocks that covered it, their
 * releases, releases of nothing known there, and mappings.
 */
#ifndef HW_ANALYSIS_ADDRESS_HISTORY_H
#define HW_ANALYSIS_ADDRESS_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "engine/query.h"
#include "store/reader.h"
#include "tool/err.h"
#include "tool/vec.h"

struct address_history {
    uint32_t process;
    uint32_t thread;
    uint32_t stack; /* of a release where it was recorded, or by realloc; 0 = none */
    uint8_t event;  /* enum wake_event */
    uint8_t detail; /* enum record_kind or record_how */
    uint64_t time_ns;
    uint64_t address, size; /* of the block or mapping; size 0 of a release of nothing known */
    uint64_t lived_ns;      /* of a block that is released */
};

struct address_histories {
    VEC(struct address_history) list; /* process by process, in the order of events */
};

void address_histories_init(struct address_histories *t);
void address_histories_release(struct address_histories *t);
/* q: for its progress and interrupt alone.  ERR_MEMORY; interrupted: 0, with what was seen. */
int address_histories_read(struct address_histories *t, const struct query *q, struct wake_reader *r,
                           uint32_t process, uint64_t address, struct err *err);

#endif

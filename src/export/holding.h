/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * holding: what each trace of the subject holds while its blocks are followed:
 * now, at most, and when the whole heap was at its peak.
 *
 * Memory goes by stacks.
 */
#ifndef HW_EXPORT_HOLDING_H
#define HW_EXPORT_HOLDING_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/follow.h"
#include "export/export.h"
#include "export/subject.h"
#include "tool/map.h"
#include "tool/vec.h"

struct holding_trace {
    uint32_t trace;
    uint64_t blocks, bytes;                 /* now */
    uint64_t made_blocks, made_bytes;       /* so far, those that were there at the beginning too */
    uint64_t highest_bytes, highest_blocks; /* bytes at most, and the blocks of that moment */
    uint64_t peak_blocks, peak_bytes;       /* at the subject's peak */
    uint64_t lifetimes_ns;                  /* of those that were released, together */
};

struct holding {
    const struct export_job *job;
    const struct subject *subject;
    VEC(struct holding_trace) traces;
    uint64_t bytes, usable; /* of all */
    bool had_peak;
    uint64_t peak_ns;
    VEC(uint32_t) by_stack; /* index in traces + 1; 0 = not seen yet */
    struct map by_trace;    /* likewise */
};

/* ERR_MEMORY; release in any case. */
int holding_init(struct holding *h, const struct export_job *job, const struct subject *s, struct err *err);
void holding_release(struct holding *h);

/* A block came; *is_peak: the whole holds now what it holds at its peak, for
 * the first time.  ERR_MEMORY. */
int holding_add(struct holding *h, const struct follow_block *b, bool *is_peak, struct err *err);
/* A block that came has gone. */
void holding_remove(struct holding *h, const struct follow_block *b, const struct follow_end *end);

#endif

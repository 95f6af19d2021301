/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * when: which processes a query is about, and the moments that it names, on
 * the recording's clock.
 */
#ifndef HW_ENGINE_WHEN_H
#define HW_ENGINE_WHEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/query.h"
#include "store/reader.h"
#include "tool/err.h"
#include "tool/vec.h"

/* A query brought to the clock of one recording. */
struct when {
    VEC(uint32_t) processes;       /* the chosen ones, by index */
    uint64_t run_from, run_to;     /* first start and last end of the chosen processes */
    uint64_t end;                  /* last of all */
    bool has_afterwards;           /* as the query has it; if not, no moment lies behind the end */
    bool has_later;                /* but one did, and was taken as that */
    struct query_range window;     /* what is counted */
    struct query_range born;       /* filter allocated_from, allocated_to */
    struct query_range died;       /* filter freed_from, freed_to */
    struct query_range group_peak; /* filter group_peak_from, group_peak_to */
    struct query_range group_interval;
    bool must_have_died;  /* one of freed_from, freed_to is set */
    uint64_t kept_until;  /* filter kept_until; 0 = unset */
    uint64_t alive_at[2]; /* filter alive_at, alive_at_2 */
    bool has_alive_at[2];
    uint64_t moment;
    uint64_t rss_bytes, rss_ns; /* the highest sample in the window */
};

/* Whether the query is about this process, by its pid. */
bool when_chooses(const struct query *q, const struct wake_process *p);
/* ERR_ABSENT: no such process or mark; ERR_USAGE, ERR_MEMORY. */
int when_resolve(struct when *w, const struct query *q, const struct wake_reader *reader, struct err *err);
/* Has the process ended before this? What it did not release is gone then. */
bool when_is_gone(const struct when *w, const struct wake_process *p, uint64_t ns);
/* Accepts a zeroed one. */
void when_release(struct when *w);

#endif

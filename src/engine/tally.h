/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tally: the rows of one process while its events are read, and its peak.
 *
 * The peak by epochs: a new maximum of the live bytes only advances the epoch.
 * A row that is touched in a later epoch than its own first copies its current
 * level to "at the peak": nothing about it has changed since.
 *
 * Without a split the rows are the stacks, by number; with one they are made as
 * they are met.
 */
#ifndef HW_ENGINE_TALLY_H
#define HW_ENGINE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/query.h"
#include "tool/map.h"
#include "tool/vec.h"

/* What changes with every event comes first, a line of the cache in all.  Fields that change at
 * the same time do not stand side by side: compilers would add to both with one wide
 * access, which has to wait for the narrow stores before it. */
struct tally_row {
    uint64_t made_blocks, gone_bytes; /* since the beginning, in the window or not */
    uint64_t made_bytes, gone_blocks;
    uint64_t epoch;
    uint64_t last_ns; /* TALLY_NEVER: no block yet */
    uint64_t lifetime_min_ns, lifetime_max_ns;

    uint64_t first_ns;
    uint64_t allocated_blocks, allocated_bytes; /* in the window, once it is closed; and the next two */
    uint64_t freed_blocks, freed_bytes;
    uint64_t peak_blocks, peak_bytes;
    uint64_t noted_blocks, noted_bytes; /* live at the moment of live_* */
    uint64_t leaked_blocks, leaked_bytes;
    uint64_t temporary_blocks, temporary_bytes;
    uint64_t slack_bytes;
    uint64_t lifetime_median_ns;
    uint32_t stack, part; /* part: the thread or the kind, as the rows are split */
};

#define TALLY_NEVER UINT64_MAX

/* What changes with every event besides the row: whoever reads many holds it in a variable
 * of his own meanwhile, that is in registers. */
struct tally_level {
    uint64_t live_blocks, live_bytes;
    uint64_t peak_bytes, peak_time_ns;
    uint64_t epoch; /* of the rows, advanced with each peak; 0: no peak yet */
};

struct tally {
    enum query_split split;
    VEC(struct tally_row) rows;
    struct map index; /* split: stack << 32 | thread or kind -> row */
    uint64_t latest_key;
    uint32_t latest_row;
    struct tally_level level;
};

/* False: no memory. */
bool tally_init(struct tally *t, enum query_split split, size_t stacks);
void tally_release(struct tally *t);
/* For tally_find. */
uint32_t tally_add(struct tally *t, uint64_t key);
/* The window begins: what is live now is the first peak. */
void tally_open(struct tally *t, uint64_t time_ns);
/* It ends. */
void tally_close(struct tally *t);
/* The moment of live_*. */
void tally_note_live(struct tally *t);
/* Brings every row's values at the peak up to date. */
void tally_settle(struct tally *t);
/* A row as answers have it. */
struct metrics tally_get(const struct tally_row *r);

#define TALLY_NONE UINT32_MAX

/* The row for an allocation; TALLY_NONE: no memory. */
static inline uint32_t tally_find(struct tally *t, uint32_t stack, uint32_t thread, uint32_t kind)
{
    if (t->split == SPLIT_NONE)
        return stack;
    uint64_t key = (uint64_t)stack << 32 | (t->split == SPLIT_THREAD ? thread : kind);
    if (key != t->latest_key || t->latest_row == TALLY_NONE) {
        const uint64_t *at = map_find(&t->index, key);
        t->latest_row = at != NULL ? (uint32_t)*at : tally_add(t, key);
        t->latest_key = key;
    }
    return t->latest_row;
}

/* The first change of a row since the peak.  Not inline: compilers would mix its loads with those of
 * every change. */
void tally_keep_peak(struct tally_row *r, uint64_t epoch);

/* A row that is about to change. */
static inline struct tally_row *tally_touch(struct tally_row *rows, uint64_t epoch, uint32_t row)
{
    struct tally_row *r = &rows[row];
    if (r->epoch != epoch)
        tally_keep_peak(r, epoch);
    return r;
}

/* In the order of time. */
static inline void tally_born(struct tally_row *r, uint64_t time_ns)
{
    if (r->last_ns == TALLY_NEVER)
        r->first_ns = time_ns;
    r->last_ns = time_ns;
}

static inline void tally_lived(struct tally_row *r, uint64_t lifetime_ns)
{
    if (lifetime_ns < r->lifetime_min_ns)
        r->lifetime_min_ns = lifetime_ns;
    if (lifetime_ns > r->lifetime_max_ns)
        r->lifetime_max_ns = lifetime_ns;
}

/* blocks: 1, or as many as a sampled one stands for; bytes are theirs together. */
static inline void tally_rise(struct tally_row *r, uint64_t blocks, uint64_t bytes)
{
    r->made_blocks += blocks;
    r->made_bytes += bytes;
}

static inline void tally_fall(struct tally_row *r, uint64_t blocks, uint64_t bytes)
{
    r->gone_blocks += blocks;
    r->gone_bytes += bytes;
}

/* After a rise within the window. */
static inline void tally_peak(struct tally_level *l, uint64_t time_ns)
{
    if (l->live_bytes > l->peak_bytes) {
        l->peak_bytes = l->live_bytes;
        l->peak_time_ns = time_ns;
        l->epoch++;
    }
}

#endif

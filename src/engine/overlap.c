/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * overlap: see overlap.h.
 */
#include "engine/overlap.h"

#include <stdlib.h>

void overlap_release(struct overlap *o)
{
    vec_release(&o->whole);
    vec_release(&o->steps);
}

static uint64_t overlap_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void overlap_add(struct overlap_level *to, const struct overlap_level *level)
{
    to->live_bytes += level->live_bytes;
    to->live_blocks += level->live_blocks;
    to->rss_bytes += level->rss_bytes;
}

/* ----------------------------------------------------------------- one process */

/* Comes and goes within the tick; what is told of it outside of its life lasts for the tick. */
static bool overlap_step(struct overlap *o, size_t tick, uint64_t from_ns, uint64_t to_ns,
                         const struct overlap_level *level)
{
    struct overlap_step come = {tick, from_ns, true, *level};
    struct overlap_step go = {tick, overlap_max(to_ns, from_ns + 1), false, *level};
    return vec_push(&o->steps, come) && vec_push(&o->steps, go);
}

bool overlap_take(struct overlap *o, struct query_result *r, const struct wake_process *p)
{
    uint64_t life_ends = p->end.end_ns; /* of one whose end is not told: as far as it is known */
    while (o->whole.count < r->timeline.count) {
        if (!vec_push(&o->whole, (struct overlap_level){0}))
            return false;
    }
    for (size_t i = 0; i < r->timeline.count; i++) {
        struct query_tick *t = &r->timeline.data[i];
        struct overlap_level level = {t->live_bytes, t->live_blocks, t->rss_bytes};
        uint64_t from = t->from_ns, to = i + 1 < r->timeline.count ? t[1].from_ns : UINT64_MAX;
        t->live_bytes = t->live_blocks = t->rss_bytes = 0;
        bool is_whole = p->info.start_ns <= from && life_ends >= to;
        if (is_whole || p->info.start_ns >= to || life_ends < from)
            overlap_add(&o->whole.data[i], &level);
        else if (level.live_blocks + level.rss_bytes != 0 &&
                 !overlap_step(o, i, overlap_max(from, p->info.start_ns), life_ends < to ? life_ends : to,
                               &level))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------- all of them */

/* By time; who goes makes room for who comes. */
static int overlap_compare(const void *a, const void *b)
{
    const struct overlap_step *x = a, *y = b;
    if (x->tick != y->tick)
        return x->tick < y->tick ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (int)x->comes - (int)y->comes;
}

void overlap_give(struct overlap *o, struct query_result *r)
{
    size_t at = 0;
    if (o->steps.count > 1)
        qsort(o->steps.data, o->steps.count, sizeof *o->steps.data, overlap_compare);
    for (size_t i = 0; i < o->whole.count; i++) {
        struct overlap_level now = o->whole.data[i];
        struct query_tick *t = &r->timeline.data[i];
        t->live_bytes = now.live_bytes;
        t->live_blocks = now.live_blocks;
        t->rss_bytes = now.rss_bytes;
        for (; at < o->steps.count && o->steps.data[at].tick == i; at++) {
            const struct overlap_step *s = &o->steps.data[at];
            if (s->comes) {
                overlap_add(&now, &s->level);
            } else {
                now.live_bytes -= s->level.live_bytes;
                now.live_blocks -= s->level.live_blocks;
                now.rss_bytes -= s->level.rss_bytes;
            }
            t->live_bytes = overlap_max(t->live_bytes, now.live_bytes);
            t->live_blocks = overlap_max(t->live_blocks, now.live_blocks);
            t->rss_bytes = overlap_max(t->rss_bytes, now.rss_bytes);
        }
    }
}

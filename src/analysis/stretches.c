/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stretches: see stretches.h.
 *
 * The removals are played on the mapping; what is there at present is in a list of regions, whose values
 * are places in the list of stretches.  A call may take several pieces of one stretch: what is left between
 * them only for the time of the call is no stretch.
 */
#include "analysis/stretches.h"

#include <stdlib.h>
#include <string.h>

#include "engine/regions.h"

void stretches_init(struct stretches *s)
{
    memset(s, 0, sizeof *s);
}

void stretches_release(struct stretches *s)
{
    vec_release(&s->list);
}

/* What is left of a stretch begins as another. */
static bool stretches_begin(struct stretches *s, struct regions *live, uint64_t start, uint64_t end,
                            const struct maps_removal *r)
{
    const struct stretch rest = {
        .start = start, .end = end, .from_ns = r->time_ns, .is_left = true, .call = r->call};
    return start >= end ||
           (regions_insert(live, start, end, s->list.count, NULL, NULL) && vec_push(&s->list, rest));
}

static bool stretches_cut(struct stretches *s, struct regions *live, const struct maps_removal *r)
{
    size_t at = regions_find(live, r->start);
    if (at == live->list.count || live->list.data[at].start > r->start || live->list.data[at].end < r->end)
        return true; /* makes no sense */
    const struct region whole = live->list.data[at];
    struct stretch *was = &s->list.data[whole.value];
    was->is_left = false;
    was->to_ns = r->time_ns;
    if (was->call == r->call)
        was->end = was->start;
    return regions_remove(live, whole.start, whole.end, NULL, NULL) &&
           stretches_begin(s, live, whole.start, r->start, r) &&
           stretches_begin(s, live, r->end, whole.end, r);
}

static int stretches_compare(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

bool stretches_set(struct stretches *s, const struct mapping *m)
{
    const struct stretch first = {.start = m->start, .end = m->end, .from_ns = m->made_ns, .is_left = true};
    struct regions live;
    size_t kept = 0;
    s->list.count = 0;
    regions_init(&live);
    bool fine = vec_push(&s->list, first) && regions_insert(&live, m->start, m->end, 0, NULL, NULL);
    for (size_t i = 0; i < m->removals.count && fine; i++)
        fine = stretches_cut(s, &live, &m->removals.data[i]);
    regions_release(&live);
    for (size_t i = 0; i < s->list.count; i++)
        if (s->list.data[i].start < s->list.data[i].end)
            s->list.data[kept++] = s->list.data[i];
    s->list.count = kept;
    if (kept > 1)
        qsort(s->list.data, kept, sizeof *s->list.data, stretches_compare);
    return fine;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * span: see span.h.
 *
 * Sorted by (low, longest first, value), every span comes after those around
 * it, so one pass finds the outer one of each.  The last span that begins at or
 * before an address either holds it or is followed outwards.
 *
 * Honest ranges nest and the way outwards is short.  Of ranges that somebody
 * made up, those nested deeper than SPAN_DEPTH are dropped, so that the way
 * stays short with them too.
 */
#include "symbol/span.h"

#include <stdlib.h>

#include "base/sorted.h"

enum { SPAN_DEPTH = 1024 };

void spans_release(struct spans *s)
{
    vec_release(&s->list);
}

bool spans_add(struct spans *s, uint64_t low, uint64_t high, uint32_t value)
{
    if (high <= low)
        return true;
    if (s->list.count >= SPAN_NONE)
        return false;
    return vec_push(&s->list, ((struct span){.low = low, .high = high, .value = value, .outer = SPAN_NONE}));
}

static int span_compare(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    if (a->high != b->high)
        return a->high > b->high ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

void spans_seal(struct spans *s)
{
    struct span *list = s->list.data;
    uint32_t open[SPAN_DEPTH] = {0}; /* the spans around the present place, outermost first */
    size_t depth = 0, kept = 0;
    if (s->list.count == 0)
        return;
    qsort(list, s->list.count, sizeof *list, span_compare);
    for (size_t i = 0; i < s->list.count; i++) {
        while (depth > 0 && list[open[depth - 1]].high <= list[i].low)
            depth--;
        if (depth == SPAN_DEPTH)
            continue;
        list[kept] = list[i];
        list[kept].outer = depth > 0 ? open[depth - 1] : SPAN_NONE;
        open[depth++] = (uint32_t)kept++;
    }
    s->list.count = kept;
}

uint32_t spans_find(const struct spans *s, uint64_t address)
{
    const struct span *list = s->list.data;
    size_t begin = sorted_up_to_by(list, s->list.count, address, low);
    uint32_t at = begin > 0 ? (uint32_t)(begin - 1) : SPAN_NONE;
    while (at != SPAN_NONE && list[at].high <= address)
        at = list[at].outer;
    return at != SPAN_NONE ? list[at].value : SPAN_NONE;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * advice_list: what the figures of stacks amount to, site by site.
 */
#include "analysis/advice.h"

#include <stdlib.h>

#include "analysis/site.h"
#include "tool/map.h"

const char *advice_name(enum advice_kind kind)
{
    static const char *const names[ADVICE_COUNT] = {"reserve", "reuse", "pool", "keep", "cross", "align"};
    return names[kind];
}

static uint64_t advice_greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Stacks of one trace as one. */
static void advice_join(struct advice_row *to, const struct advice_row *from)
{
    to->is_sampled = to->is_sampled || from->is_sampled;
    to->events += from->events;
    to->blocks += from->blocks;
    to->chains += from->chains;
    to->steps += from->steps;
    to->copied_bytes += from->copied_bytes;
    to->largest = advice_greater(to->largest, from->largest);
    to->temporaries += from->temporaries;
    to->tiny += from->tiny;
    to->tiny_overhead_max += from->tiny_overhead_max;
    to->tiny_most += from->tiny_most;
    to->shorts += from->shorts;
    to->short_bytes += from->short_bytes;
    to->crossed += from->crossed;
    to->aligned += from->aligned;
    to->aligned_bits |= from->aligned_bits;
    to->aligned_bytes += from->aligned_bytes;
    to->aligned_most += from->aligned_most;
}

/* The alignment that all addresses have. */
static uint64_t advice_alignment(const struct advice_row *r)
{
    return r->aligned_bits & (0 - r->aligned_bits);
}

static struct advice advice_of(const struct advice_row *r, enum advice_kind kind, uint32_t trace)
{
    struct advice a = {.kind = kind, .trace = trace};
    uint64_t alignment = advice_alignment(r), size = r->aligned == 0 ? 0 : r->aligned_bytes / r->aligned;
    switch (kind) {
    case ADVICE_RESERVE:
        a.count = r->steps;
        a.bytes = r->copied_bytes;
        a.size = r->largest;
        a.saved_ns = r->steps * ADVICE_PAIR_NS + r->copied_bytes / ADVICE_COPY_BYTES_PER_NS;
        break;
    case ADVICE_REUSE:
        a.count = r->temporaries;
        a.saved_ns = r->temporaries * ADVICE_PAIR_NS;
        break;
    case ADVICE_POOL:
        a.count = r->tiny_most;
        a.bytes = a.saved_bytes = r->tiny_overhead_max;
        break;
    case ADVICE_KEEP:
        a.count = r->shorts;
        a.bytes = r->short_bytes;
        a.saved_ns = r->short_bytes / ADVICE_PAGE * ADVICE_PAGE_NS;
        break;
    case ADVICE_CROSS:
        a.count = r->crossed;
        a.saved_ns = r->crossed * ADVICE_CROSS_NS;
        break;
    default:
        if (alignment >= 64 && size <= alignment / 2) {
            a.count = r->aligned_most;
            a.size = alignment;
            a.bytes = a.saved_bytes = r->aligned_most * (alignment - size);
        }
    }
    return a;
}

/* Fewer would be noise; a few large blocks, or one long chain, are not. */
static bool advice_is_worth_it(const struct advice *a)
{
    uint64_t least =
        a->kind == ADVICE_KEEP || a->kind == ADVICE_RESERVE ? ADVICE_CALLS_MIN / 10 : ADVICE_CALLS_MIN;
    return a->count >= least && (a->saved_ns > 0 || a->saved_bytes > 0);
}

struct advice_order {
    const struct traces *traces;
};

static int advice_compare(const void *left, const void *right, void *context)
{
    const struct advice *a = left, *b = right;
    const struct advice_order *o = context;
    if (a->share != b->share)
        return a->share > b->share ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->trace == b->trace ? 0 : sites_compare_traces(o->traces, a->trace, b->trace);
}

static bool advice_add(struct advices *a, const struct advice_row *r, uint32_t trace, uint64_t peak_bytes,
                       uint64_t runtime_ns)
{
    if (r->is_sampled && r->events < ADVICE_SAMPLES_MIN)
        return true;
    for (enum advice_kind kind = 0; kind < ADVICE_COUNT; kind++) {
        struct advice one = advice_of(r, kind, trace);
        if (!advice_is_worth_it(&one))
            continue;
        if (one.saved_bytes > 0)
            one.share = peak_bytes == 0 ? 0 : (double)one.saved_bytes / (double)peak_bytes;
        else
            one.share = runtime_ns == 0 ? 0 : (double)one.saved_ns / (double)runtime_ns;
        if (!vec_push(&a->list, one))
            return false;
    }
    return true;
}

int advices_build(struct advices *a, struct traces *c, uint64_t peak_bytes, uint64_t runtime_ns,
                  struct err *err)
{
    struct advice_order order = {c};
    VEC(struct advice_row) joined = {0};
    VEC(uint32_t) traces = {0};
    struct map slots; /* trace -> index in joined */
    bool fine = true;
    int code = 0;
    map_init(&slots);
    for (size_t i = 0; i < a->rows.count && fine && code == 0; i++) {
        const struct advice_row *r = &a->rows.data[i];
        uint32_t trace;
        code = traces_find(c, r->process, r->stack, &trace, err);
        const uint64_t *at = code != 0 ? NULL : map_find(&slots, trace);
        if (at != NULL)
            advice_join(&joined.data[*at], r);
        else if (code == 0)
            fine = map_set(&slots, trace, joined.count) && vec_push(&joined, *r) && vec_push(&traces, trace);
    }
    for (size_t i = 0; i < joined.count && fine && code == 0; i++)
        fine = advice_add(a, &joined.data[i], traces.data[i], peak_bytes, runtime_ns);
    if (a->list.count > 1)
        qsort_r(a->list.data, a->list.count, sizeof *a->list.data, advice_compare, &order);
    map_release(&slots);
    vec_release(&joined);
    vec_release(&traces);
    if (!fine)
        return err_no_memory(err);
    return code;
}

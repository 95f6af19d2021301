/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * moment_diff: see moment_diff.h.
 */
#include "analysis/moment_diff.h"

#include <stdlib.h>
#include <string.h>

void drift_init(struct drift *d, uint32_t depth)
{
    memset(d, 0, sizeof *d);
    d->depth = depth;
    map_init(&d->slots);
}

void drift_release(struct drift *d)
{
    vec_release(&d->list);
    map_release(&d->slots);
}

/* The trace of its innermost frames alone.  0: no memory (or it has none). */
static uint32_t drift_shorten(const struct drift *d, struct traces *c, uint32_t trace)
{
    uint32_t path[DRIFT_DEPTH_MAX], count = 0, shorter = 0;
    if (d->depth == 0 || d->depth > DRIFT_DEPTH_MAX || c->traces.data[trace].depth <= d->depth)
        return trace;
    for (uint32_t at = trace; count < d->depth; at = traces_parent(c, at))
        path[count++] = at;
    while (count-- > 0) {
        struct frame frame = *traces_frame(c, path[count]);
        shorter = traces_add(c, shorter, &frame);
        if (shorter == 0)
            return 0;
    }
    return shorter;
}

int drift_add(struct drift *d, struct traces *c, uint32_t trace, int64_t bytes, int64_t blocks,
              struct err *err)
{
    uint32_t site = trace == 0 ? 0 : drift_shorten(d, c, trace);
    const uint64_t *known = map_find(&d->slots, site);
    size_t at = known == NULL ? d->list.count : (size_t)*known;
    if ((site == 0 && trace != 0) ||
        (known == NULL &&
         (!map_set(&d->slots, site, at) || !vec_push(&d->list, (struct drift_site){.trace = site}))))
        return err_no_memory(err);
    d->list.data[at].bytes += bytes;
    d->list.data[at].blocks += blocks;
    d->bytes += bytes;
    d->blocks += blocks;
    return 0;
}

int drift_add_rows(struct drift *d, struct traces *c, const struct query_result *r, int sign, struct err *err)
{
    for (size_t i = 0; i < r->rows.count; i++) {
        const struct query_row *row = &r->rows.data[i];
        uint32_t trace;
        if (row->m.live_blocks == 0)
            continue;
        int code = traces_find(c, row->process, row->stack, &trace, err);
        if (code == 0)
            code = drift_add(d, c, trace, sign * (int64_t)row->m.live_bytes,
                             sign * (int64_t)row->m.live_blocks, err);
        if (code != 0)
            return code;
    }
    return 0;
}

static int drift_compare(const void *left, const void *right)
{
    const struct drift_site *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->blocks != b->blocks)
        return a->blocks > b->blocks ? -1 : 1;
    return a->trace < b->trace ? -1 : a->trace > b->trace;
}

void drift_sort(struct drift *d)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->list.count; i++) {
        if (d->list.data[i].bytes != 0 || d->list.data[i].blocks != 0)
            d->list.data[kept++] = d->list.data[i];
    }
    d->list.count = kept;
    map_release(&d->slots); /* their places are not what they were */
    map_init(&d->slots);
    if (kept > 1)
        qsort(d->list.data, kept, sizeof *d->list.data, drift_compare);
}

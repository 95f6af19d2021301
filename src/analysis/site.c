/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * site: see site.h.
 */
#include "analysis/site.h"

#include <stdlib.h>
#include <string.h>

void sites_init(struct sites *s)
{
    memset(s, 0, sizeof *s);
}

void sites_release(struct sites *s)
{
    vec_release(&s->list);
}

static int sites_no_memory(struct err *err)
{
    return err_no_memory(err);
}

int sites_add(struct sites *s, struct traces *c, const struct query_row *rows, size_t count, struct err *err)
{
    struct map slots; /* trace -> index in the list */
    int code = 0;
    map_init(&slots);
    for (size_t i = 0; i < s->list.count && code == 0; i++) {
        if (!map_set(&slots, s->list.data[i].trace, i))
            code = sites_no_memory(err);
    }
    for (size_t i = 0; i < count && code == 0; i++) {
        uint32_t trace;
        code = traces_find(c, rows[i].process, rows[i].stack, &trace, err);
        if (code != 0)
            break;
        const uint64_t *known = map_find(&slots, trace);
        size_t at = known == NULL ? s->list.count : (size_t)*known;
        if (known == NULL &&
            (!map_set(&slots, trace, at) || !vec_push(&s->list, (struct site){.trace = trace}))) {
            code = sites_no_memory(err);
            break;
        }
        measure_add(&s->list.data[at].m, &rows[i].m);
        s->list.data[at].rows++;
        measure_add(&s->total, &rows[i].m);
    }
    map_release(&slots);
    return code;
}

struct sites_order {
    const struct traces *traces;
    enum measure measure;
};

enum { SITES_COMPARED = 256 };

int sites_compare_traces(const struct traces *c, uint32_t a, uint32_t b)
{
    uint32_t depth = c->traces.data[a].depth, other = c->traces.data[b].depth;
    for (unsigned n = 0; a != b && a != 0 && b != 0; a = traces_parent(c, a), b = traces_parent(c, b)) {
        if (n++ == SITES_COMPARED && depth != other)
            return depth < other ? -1 : 1; /* a recursion, as a rule: there is no end to what is the same */
        const struct frame *f = traces_frame(c, a), *g = traces_frame(c, b);
        if (f == g)
            continue;
        int differ = strcmp(f->function, g->function);
        differ = differ != 0 ? differ : strcmp(f->file, g->file);
        differ = differ != 0 ? differ : strcmp(f->module, g->module);
        if (differ != 0)
            return differ;
        if (f->line != g->line)
            return f->line < g->line ? -1 : 1;
        if (f->address != g->address)
            return f->address < g->address ? -1 : 1;
    }
    return (a != 0) - (b != 0);
}

static int sites_compare(const void *left, const void *right, void *context)
{
    const struct site *a = left, *b = right;
    const struct sites_order *o = context;
    uint64_t x = measure_weight(&a->m, o->measure), y = measure_weight(&b->m, o->measure);
    if (x != y)
        return x > y ? -1 : 1;
    x = measure_blocks(&a->m, o->measure), y = measure_blocks(&b->m, o->measure);
    if (x != y)
        return x > y ? -1 : 1;
    return a->trace == b->trace ? 0 : sites_compare_traces(o->traces, a->trace, b->trace);
}

void sites_sort(struct sites *s, const struct traces *c, enum measure measure)
{
    struct sites_order order = {c, measure};
    if (s->list.count > 1)
        qsort_r(s->list.data, s->list.count, sizeof *s->list.data, sites_compare, &order);
}

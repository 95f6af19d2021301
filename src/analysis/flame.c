/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * flame: see flame.h.
 *
 * All traces together are a tree: one pass from its leaves to its roots sums it
 * up.  Then a box is a list of traces whose frames have one function; what stands
 * on it are their children, put together by function.  Boxes wait on a
 * stack, so nothing recurses.
 */
#include "analysis/flame.h"

#include <stdlib.h>
#include <string.h>

#include "tool/map.h"
#include "tool/memory.h"

struct flame_sum {
    uint64_t before, after;
};

/* Traces that make one box; they are links[first], links[links[first].next] ... */
struct flame_group {
    uint32_t first;
    struct flame_sum sum;
};

struct flame_link {
    uint32_t trace, next; /* next: index + 1; 0 = the last */
};

/* A box whose children are to be found. */
struct flame_task {
    uint32_t first, level;
    double x;
};

struct flame_work {
    struct flame *to;
    const struct traces *traces;
    struct flame_sum *sums; /* by trace */
    double whole, least;
    VEC(struct flame_link) links;
    VEC(struct flame_group) groups;
    VEC(struct flame_task) tasks;
    struct map slots; /* symbol -> index in groups */
};

void flame_init(struct flame *f)
{
    memset(f, 0, sizeof *f);
}

void flame_release(struct flame *f)
{
    vec_release(&f->boxes);
}

static double flame_width(const struct flame_work *w, struct flame_sum s)
{
    return ((double)s.before + (double)s.after) / w->whole;
}

static bool flame_put(struct flame_work *w, uint32_t trace)
{
    uint64_t symbol = trace == 0 ? 0 : traces_frame(w->traces, trace)->symbol;
    const uint64_t *known = map_find(&w->slots, symbol);
    size_t at = known == NULL ? w->groups.count : (size_t)*known;
    if (known == NULL && (!map_set(&w->slots, symbol, at) || !vec_push(&w->groups, (struct flame_group){0})))
        return false;
    struct flame_group *g = &w->groups.data[at];
    if (!vec_push(&w->links, ((struct flame_link){trace, g->first})))
        return false;
    g->first = (uint32_t)w->links.count;
    g->sum.before += w->sums[trace].before;
    g->sum.after += w->sums[trace].after;
    return true;
}

static int flame_compare(const void *left, const void *right)
{
    const struct flame_group *a = left, *b = right;
    uint64_t x = a->sum.before + a->sum.after, y = b->sum.before + b->sum.after;
    return x != y ? (x > y ? -1 : 1) : (a->first > b->first) - (a->first < b->first);
}

/* Makes boxes of the groups, side by side from x on. */
static bool flame_settle(struct flame_work *w, uint32_t level, double x)
{
    if (w->groups.count > 1)
        qsort(w->groups.data, w->groups.count, sizeof *w->groups.data, flame_compare);
    for (size_t i = 0; i < w->groups.count; i++) {
        const struct flame_group *g = &w->groups.data[i];
        double width = flame_width(w, g->sum);
        if (width < w->least)
            break;
        uint32_t trace = w->links.data[g->first - 1].trace;
        struct flame_box box = {trace == 0 ? 0 : w->traces->traces.data[trace].frame + 1,
                                level,
                                x,
                                width,
                                g->sum.before,
                                g->sum.after};
        if (!vec_push(&w->to->boxes, box))
            return false;
        w->to->levels = level >= w->to->levels ? level + 1 : w->to->levels;
        if (trace != 0 && level + 1 < FLAME_LEVELS &&
            !vec_push(&w->tasks, ((struct flame_task){g->first, level + 1, x})))
            return false;
        x += width;
    }
    w->groups.count = 0;
    map_release(&w->slots);
    map_init(&w->slots);
    return true;
}

static bool flame_grow(struct flame_work *w, const struct flame_task *task)
{
    for (uint32_t at = task->first; at != 0; at = w->links.data[at - 1].next) {
        uint32_t child = w->traces->traces.data[w->links.data[at - 1].trace].child;
        for (; child != 0; child = w->traces->traces.data[child].sibling) {
            if (w->sums[child].before + w->sums[child].after != 0 && !flame_put(w, child))
                return false;
        }
    }
    return flame_settle(w, task->level, task->x);
}

static bool flame_sum_up(struct flame_work *w, const struct compare *d, enum measure measure, size_t count)
{
    w->sums = memory_new_zeroed(count, sizeof *w->sums);
    if (w->sums == NULL)
        return false;
    for (size_t i = 0; i < d->list.count; i++) {
        struct flame_sum *s = &w->sums[d->list.data[i].trace];
        s->before += measure_weight(&d->list.data[i].before, measure);
        s->after += measure_weight(&d->list.data[i].after, measure);
    }
    for (size_t k = count; k-- > 1;) {
        uint32_t parent = w->traces->traces.data[k].parent;
        if (parent == 0)
            continue;
        w->sums[parent].before += w->sums[k].before;
        w->sums[parent].after += w->sums[k].after;
    }
    return true;
}

int flame_build(struct flame *f, const struct traces *c, const struct compare *d, enum measure measure,
                double threshold, struct err *err)
{
    struct flame_work w = {.to = f, .traces = c, .least = threshold};
    size_t count = c->traces.count == 0 ? 1 : c->traces.count;
    map_init(&w.slots);
    f->before = measure_weight(&d->before, measure);
    f->after = measure_weight(&d->after, measure);
    w.whole = (double)f->before + (double)f->after;
    bool ok = flame_sum_up(&w, d, measure, count);
    if (ok && w.whole > 0) {
        for (size_t k = 0; k < count && ok; k++) {
            bool is_root = k == 0 || c->traces.data[k].parent == 0;
            if (is_root && w.sums[k].before + w.sums[k].after != 0)
                ok = flame_put(&w, (uint32_t)k);
        }
        ok = ok && flame_settle(&w, 0, 0);
    }
    while (ok && w.tasks.count > 0) {
        struct flame_task task = w.tasks.data[--w.tasks.count];
        ok = flame_grow(&w, &task);
    }
    free(w.sums);
    vec_release(&w.links);
    vec_release(&w.groups);
    vec_release(&w.tasks);
    map_release(&w.slots);
    return ok ? 0 : err_no_memory(err);
}

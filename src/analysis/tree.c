/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tree: see tree.h.
 *
 * A node is made of members.  Towards callers a member is a place in the trace
 * of one site, and the next one is its parent.  Towards callees a member is a
 * trace with all that ends in it or below, and the next ones are the traces
 * that have it as parent (all traces together are a tree already; only lines
 * keep frames of one function apart there).
 *
 * To grow a node its members' next places are put in buckets, one for each
 * function.  Buckets that reach the threshold become nodes and wait to be grown
 * in turn, with their members on one stack; of the others only the sum is kept.
 * Traces can be a hundred thousand frames deep, so nothing recurses.
 */
#include "analysis/tree.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/called.h"
#include "tool/map.h"
#include "tool/memory.h"

struct tree_member {
    uint32_t trace; /* 0 = no stack */
    uint32_t bucket;
    struct tree_value value;
};

struct tree_bucket {
    uint32_t frame; /* as in tree_node */
    uint32_t node;
    bool lines_differ;
    size_t count;
    struct tree_value value;
};

/* A node that is to be grown: its members are the last `count` on the stack. */
struct tree_task {
    uint32_t node;
    size_t count;
};

struct tree_work {
    struct tree *tree;
    const struct traces *traces;
    uint64_t least; /* weight of a node */
    VEC(struct tree_task) tasks;
    VEC(struct tree_member) members, next;
    VEC(struct tree_bucket) buckets;
    VEC(uint32_t) order; /* buckets, largest first */
    struct map slots;    /* symbol -> bucket */
    /* Towards callees, by trace: */
    struct tree_value *own, *below; /* what ends in it, and that with all below */
};

void tree_init(struct tree *t, enum tree_way way, enum measure measure, double threshold)
{
    memset(t, 0, sizeof *t);
    t->way = way;
    t->measure = measure;
    t->threshold = threshold;
}

void tree_release(struct tree *t)
{
    vec_release(&t->nodes);
}

static void tree_value_add(struct tree_value *to, struct tree_value value)
{
    to->bytes += value.bytes;
    to->blocks += value.blocks;
}

static uint64_t tree_weight(const struct tree *t, struct tree_value value)
{
    return measure_is_by_blocks(t->measure) ? value.blocks : value.bytes;
}

static struct tree_value tree_site_value(const struct tree *t, const struct site *site)
{
    return (struct tree_value){measure_bytes(&site->m, t->measure), measure_blocks(&site->m, t->measure)};
}

/* -------------------------------------------------------------------- buckets */

/* Puts a place in the bucket of its function.  False: no memory. */
static bool tree_put(struct tree_work *w, uint32_t trace, struct tree_value value)
{
    const struct frame *f = trace == 0 ? NULL : traces_frame(w->traces, trace);
    uint64_t symbol = f == NULL ? 0 : f->symbol;
    const uint64_t *known = map_find(&w->slots, symbol);
    uint32_t at = known == NULL ? (uint32_t)w->buckets.count : (uint32_t)*known;
    if (known == NULL) {
        struct tree_bucket fresh = {.frame = f == NULL ? 0 : w->traces->traces.data[trace].frame + 1};
        if (!map_set(&w->slots, symbol, at) || !vec_push(&w->buckets, fresh) || !vec_push(&w->order, at))
            return false;
    }
    struct tree_bucket *b = &w->buckets.data[at];
    if (f != NULL && f->line != w->traces->frames.data[b->frame - 1].line)
        b->lines_differ = true;
    tree_value_add(&b->value, value);
    b->count++;
    return vec_push(&w->next, ((struct tree_member){trace, at, value}));
}

static int tree_compare_frames(const struct traces *c, uint32_t a, uint32_t b)
{
    if (a == 0 || b == 0)
        return (a != 0) - (b != 0);
    const struct frame *f = &c->frames.data[a - 1], *g = &c->frames.data[b - 1];
    int differ = strcmp(f->function, g->function);
    differ = differ != 0 ? differ : strcmp(f->module, g->module);
    return differ != 0 ? differ : (f->address > g->address) - (f->address < g->address);
}

static int tree_compare(const void *left, const void *right, void *context)
{
    const struct tree_work *w = context;
    const struct tree_bucket *a = &w->buckets.data[*(const uint32_t *)left];
    const struct tree_bucket *b = &w->buckets.data[*(const uint32_t *)right];
    uint64_t x = tree_weight(w->tree, a->value), y = tree_weight(w->tree, b->value);
    if (x != y)
        return x > y ? -1 : 1;
    return tree_compare_frames(w->traces, a->frame, b->frame);
}

static bool tree_is_small(const struct tree_work *w, const struct tree_bucket *b)
{
    bool is_empty = b->value.blocks == 0 && b->value.bytes == 0; /* blocks may have no bytes */
    return is_empty || tree_weight(w->tree, b->value) < w->least;
}

/* Links a new node as the first child of parent. */
static bool tree_link(struct tree *t, uint32_t parent, struct tree_node node)
{
    node.next = t->nodes.data[parent].child;
    if (!vec_push(&t->nodes, node))
        return false;
    t->nodes.data[parent].child = (uint32_t)(t->nodes.count - 1);
    return true;
}

/* Makes nodes of the buckets, the smallest first, and tasks of them with their members. */
static bool tree_settle(struct tree_work *w, uint32_t parent)
{
    struct tree_node rest = {0};
    if (w->order.count > 1)
        qsort_r(w->order.data, w->order.count, sizeof *w->order.data, tree_compare, w);
    for (size_t i = w->order.count; i-- > 0;) {
        struct tree_bucket *b = &w->buckets.data[w->order.data[i]];
        if (tree_is_small(w, b)) {
            rest.rest++;
            tree_value_add(&rest.all, b->value);
            tree_value_add(&rest.self, b->value);
            continue;
        }
        if (rest.rest != 0 && !tree_link(w->tree, parent, rest))
            return false;
        rest.rest = 0;
        struct tree_node node = {.frame = b->frame, .lines_differ = b->lines_differ, .all = b->value};
        if (!tree_link(w->tree, parent, node))
            return false;
        b->node = (uint32_t)(w->tree->nodes.count - 1);
    }
    return rest.rest == 0 || tree_link(w->tree, parent, rest);
}

/* Pushes the members of the new nodes, bucket by bucket. */
static bool tree_wait(struct tree_work *w)
{
    size_t at = w->members.count, total = at;
    for (size_t i = 0; i < w->order.count; i++) {
        struct tree_bucket *b = &w->buckets.data[w->order.data[i]];
        if (b->node == 0)
            continue;
        if (!vec_push(&w->tasks, ((struct tree_task){b->node, b->count})))
            return false;
        total += b->count;
    }
    if (!vec_reserve(&w->members, total))
        return false;
    for (size_t i = 0; i < w->order.count; i++) {
        struct tree_bucket *b = &w->buckets.data[w->order.data[i]];
        size_t begin = at;
        at += b->node == 0 ? 0 : b->count;
        b->count = begin; /* from here on: where its next member goes */
    }
    for (size_t i = 0; i < w->next.count; i++) {
        struct tree_bucket *b = &w->buckets.data[w->next.data[i].bucket];
        if (b->node != 0)
            w->members.data[b->count++] = w->next.data[i];
    }
    w->members.count = total;
    return true;
}

static bool tree_finish_node(struct tree_work *w, uint32_t node)
{
    bool ok = tree_settle(w, node) && tree_wait(w);
    w->next.count = w->buckets.count = w->order.count = 0;
    map_release(&w->slots);
    map_init(&w->slots);
    return ok;
}

/* -------------------------------------------------------------------- growing */

static bool tree_grow(struct tree_work *w, const struct tree_task *task)
{
    size_t first = w->members.count - task->count;
    for (size_t i = first; i < w->members.count; i++) {
        struct tree_member m = w->members.data[i];
        struct tree_value *self = &w->tree->nodes.data[task->node].self;
        if (w->tree->way == TREE_CALLERS) {
            uint32_t caller = m.trace == 0 ? 0 : traces_parent(w->traces, m.trace);
            if (caller == 0)
                tree_value_add(self, m.value);
            else if (!tree_put(w, caller, m.value))
                return false;
            continue;
        }
        tree_value_add(self, w->own[m.trace]);
        uint32_t first_child = m.trace == 0 ? 0 : w->traces->traces.data[m.trace].child;
        for (uint32_t k = first_child; k != 0; k = w->traces->traces.data[k].sibling) {
            if (w->below[k].blocks != 0 && !tree_put(w, k, w->below[k]))
                return false;
        }
    }
    w->members.count = first;
    return tree_finish_node(w, task->node);
}

/* The innermost frame of a trace that is the root; 0 = none.  calls: by frame. */
static uint32_t tree_find_root(const struct traces *c, uint32_t trace, const bool *calls)
{
    while (trace != 0 && !calls[c->traces.data[trace].frame])
        trace = traces_parent(c, trace);
    return trace;
}

/* Towards callers: where each site begins. */
static bool tree_begin_callers(struct tree_work *w, const struct sites *sites, const bool *calls)
{
    for (size_t i = 0; i < sites->list.count; i++) {
        const struct site *site = &sites->list.data[i];
        struct tree_value value = tree_site_value(w->tree, site);
        uint32_t begin = calls == NULL ? site->trace : tree_find_root(w->traces, site->trace, calls);
        if (value.blocks == 0 || (calls != NULL && begin == 0))
            continue;
        tree_value_add(&w->tree->nodes.data[0].all, value);
        if (!tree_put(w, begin, value))
            return false;
    }
    return true;
}

/* Towards callees: sums up the tree of traces, then takes its roots, or the
 * outermost traces of the root function. */
static bool tree_begin_callees(struct tree_work *w, const struct sites *sites, const bool *calls)
{
    const struct traces *c = w->traces;
    size_t count = c->traces.count == 0 ? 1 : c->traces.count;
    bool *inside = memory_new_zeroed(count, sizeof *inside); /* the root function is among its callers */
    w->own = memory_new_zeroed(count, sizeof *w->own);
    w->below = memory_new_zeroed(count, sizeof *w->below);
    bool ok = inside != NULL && w->own != NULL && w->below != NULL;
    for (size_t i = 0; ok && i < sites->list.count; i++)
        tree_value_add(&w->own[sites->list.data[i].trace], tree_site_value(w->tree, &sites->list.data[i]));
    /* A trace comes after its parent. */
    for (size_t k = count; ok && k-- > 1;) {
        uint32_t parent = c->traces.data[k].parent;
        tree_value_add(&w->below[k], w->own[k]);
        if (parent != 0)
            tree_value_add(&w->below[parent], w->below[k]);
    }
    if (ok && calls == NULL && w->own[0].blocks != 0) {
        tree_value_add(&w->tree->nodes.data[0].all, w->own[0]);
        ok = tree_put(w, 0, w->own[0]);
    }
    for (size_t k = 1; ok && k < count; k++) {
        uint32_t parent = c->traces.data[k].parent;
        bool is_root = calls == NULL ? parent == 0 : calls[c->traces.data[k].frame];
        inside[k] = is_root || inside[parent];
        if (!is_root || inside[parent] || w->below[k].blocks == 0)
            continue;
        tree_value_add(&w->tree->nodes.data[0].all, w->below[k]);
        ok = tree_put(w, (uint32_t)k, w->below[k]);
    }
    free(inside);
    return ok;
}

/* Which frames are the root function; NULL: no memory. */
static bool *tree_mark_calls(const struct traces *c, const char *root)
{
    bool *calls = memory_new_zeroed(c->frames.count + 1, sizeof *calls);
    for (size_t i = 0; calls != NULL && i < c->frames.count; i++)
        calls[i] = called_matches(&c->frames.data[i], root);
    return calls;
}

static void tree_work_release(struct tree_work *w)
{
    vec_release(&w->tasks);
    vec_release(&w->members);
    vec_release(&w->next);
    vec_release(&w->buckets);
    vec_release(&w->order);
    map_release(&w->slots);
    free(w->own);
    free(w->below);
}

int tree_build(struct tree *t, const struct traces *c, const struct sites *sites, const char *root,
               struct err *err)
{
    struct tree_work w = {.tree = t, .traces = c};
    bool *calls = root == NULL ? NULL : tree_mark_calls(c, root);
    map_init(&w.slots);
    bool ok = (root == NULL || calls != NULL) && vec_push(&t->nodes, (struct tree_node){0});
    if (ok)
        ok = t->way == TREE_CALLERS ? tree_begin_callers(&w, sites, calls)
                                    : tree_begin_callees(&w, sites, calls);
    if (ok) {
        double least = t->threshold * (double)tree_weight(t, t->nodes.data[0].all);
        w.least = (uint64_t)least + (least > (double)(uint64_t)least);
        ok = tree_finish_node(&w, 0);
    }
    while (ok && w.tasks.count > 0) {
        struct tree_task task = w.tasks.data[--w.tasks.count];
        ok = tree_grow(&w, &task);
    }
    tree_work_release(&w);
    free(calls);
    return ok ? 0 : err_no_memory(err);
}

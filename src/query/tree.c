/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tree: see tree.h.
 *
 * Chains can be a hundred thousand frames deep, so nothing here recurses.
 */
#include "query/tree.h"

#include <stdlib.h>
#include <string.h>

void tree_init(struct tree *t, enum tree_way way)
{
    memset(t, 0, sizeof *t);
    t->way = way;
    map_init(&t->slots);
}

void tree_release(struct tree *t)
{
    map_release(&t->slots);
    vec_release(&t->nodes);
}

static int tree_no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "There is no memory for the tree.");
}

/* The child of parent for a frame (number + 1; 0 = no stack), made when it is new.  0: no memory. */
static uint32_t tree_get_child(struct tree *t, const struct chains *c, uint32_t parent, uint32_t frame)
{
    const struct frame *f = frame == 0 ? NULL : &c->frames.data[frame - 1];
    uint64_t key = (uint64_t)parent << 32 | (f == NULL ? 0 : f->symbol);
    const uint64_t *known = map_find(&t->slots, key);
    if (known != NULL) {
        struct tree_node *node = &t->nodes.data[*known];
        if (f != NULL && f->line != c->frames.data[node->frame - 1].line)
            node->lines_differ = true;
        return (uint32_t)*known;
    }
    struct tree_node fresh = {.next = t->nodes.data[parent].child, .frame = frame};
    uint32_t number = (uint32_t)t->nodes.count;
    if (!vec_push(&t->nodes, fresh) || !map_set(&t->slots, key, number))
        return 0;
    t->nodes.data[parent].child = number;
    return number;
}

/* The frames of a site in the order of the tree.  False: the root is not in it. */
struct tree_path {
    VEC(uint32_t) frames; /* number + 1 */
    bool failed;
};

static bool tree_path_fill(struct tree_path *path, const struct tree *t, const struct chains *c,
                           uint32_t chain, const char *root)
{
    size_t innermost = SIZE_MAX, outermost = 0;
    path->frames.count = 0;
    for (; chain != 0; chain = chains_parent(c, chain)) {
        if (root != NULL && frame_is_called(chains_frame(c, chain), root)) {
            outermost = path->frames.count;
            innermost = innermost == SIZE_MAX ? outermost : innermost;
        }
        if (!vec_push(&path->frames, c->chains.data[chain].frame + 1)) {
            path->failed = true;
            return false;
        }
    }
    size_t count = path->frames.count, from = 0;
    if (root != NULL && innermost == SIZE_MAX)
        return false;
    if (root != NULL && t->way == TREE_CALLERS)
        from = innermost;
    if (root != NULL && t->way == TREE_CALLEES)
        count = outermost + 1;
    uint32_t *f = path->frames.data;
    if (from > 0)
        memmove(f, f + from, (count - from) * sizeof *f);
    path->frames.count = count - from;
    for (size_t i = 0, j = path->frames.count; t->way == TREE_CALLEES && j > i + 1; i++) {
        uint32_t swap = f[i];
        f[i] = f[--j];
        f[j] = swap;
    }
    return true;
}

static bool tree_add_site(struct tree *t, const struct chains *c, const struct tree_path *path,
                          const struct metrics *m)
{
    uint32_t at = 0;
    measure_add(&t->nodes.data[0].m, m);
    for (size_t i = 0; i < path->frames.count || i == 0; i++) {
        at = tree_get_child(t, c, at, path->frames.count == 0 ? 0 : path->frames.data[i]);
        if (at == 0)
            return false;
        measure_add(&t->nodes.data[at].m, m);
    }
    measure_add(&t->nodes.data[at].self, m);
    return true;
}

int tree_add(struct tree *t, const struct chains *c, const struct sites *sites, const char *root,
             struct err *err)
{
    struct tree_path path = {0};
    int code = 0;
    if (t->nodes.count == 0 && !vec_push(&t->nodes, (struct tree_node){0}))
        return tree_no_memory(err);
    for (size_t i = 0; i < sites->list.count && code == 0; i++) {
        const struct site *site = &sites->list.data[i];
        bool has = tree_path_fill(&path, t, c, site->chain, root);
        if (path.failed || (has && !tree_add_site(t, c, &path, &site->m)))
            code = tree_no_memory(err);
    }
    vec_release(&path.frames);
    return code;
}

/* ------------------------------------------------------------------- pruning */

struct tree_order {
    const struct tree *tree;
    const struct chains *chains;
    enum measure measure;
};

static const char *tree_node_text(const struct chains *c, const struct tree_node *n)
{
    return n->frame == 0 ? "" : c->frames.data[n->frame - 1].function;
}

static int tree_compare(const void *left, const void *right, void *context)
{
    const struct tree_order *o = context;
    const struct tree_node *a = &o->tree->nodes.data[*(const uint32_t *)left];
    const struct tree_node *b = &o->tree->nodes.data[*(const uint32_t *)right];
    uint64_t x = measure_weight(&a->m, o->measure), y = measure_weight(&b->m, o->measure);
    if (x != y)
        return x > y ? -1 : 1;
    int differ = strcmp(tree_node_text(o->chains, a), tree_node_text(o->chains, b));
    if (differ != 0 || a->frame == 0 || b->frame == 0)
        return differ;
    const struct frame *f = &o->chains->frames.data[a->frame - 1], *g = &o->chains->frames.data[b->frame - 1];
    differ = strcmp(f->module, g->module);
    return differ != 0 ? differ : (f->address > g->address) - (f->address < g->address);
}

/* Relinks the sorted children of a node; the first `kept` stay, the others become one. */
static bool tree_link(struct tree *t, uint32_t parent, const uint32_t *children, size_t count, size_t kept)
{
    uint32_t after = 0;
    if (kept < count) {
        struct tree_node rest = {.rest = (uint32_t)(count - kept)};
        for (size_t i = kept; i < count; i++) {
            measure_add(&rest.m, &t->nodes.data[children[i]].m);
            measure_add(&rest.self, &t->nodes.data[children[i]].m);
        }
        if (!vec_push(&t->nodes, rest))
            return false;
        after = (uint32_t)(t->nodes.count - 1);
    }
    for (size_t i = kept; i-- > 0;) {
        t->nodes.data[children[i]].next = after;
        after = children[i];
    }
    t->nodes.data[parent].child = after;
    return true;
}

int tree_prune(struct tree *t, const struct chains *c, enum measure measure, double threshold,
               struct err *err)
{
    struct tree_order order = {t, c, measure};
    VEC(uint32_t) children = {0};
    int code = 0;
    if (t->nodes.count == 0)
        return 0;
    double least = threshold * (double)measure_weight(&t->nodes.data[0].m, measure);
    size_t made = t->nodes.count;
    for (size_t i = 0; i < made && code == 0; i++) {
        children.count = 0;
        for (uint32_t n = t->nodes.data[i].child; n != 0; n = t->nodes.data[n].next) {
            if (!vec_push(&children, n))
                code = tree_no_memory(err);
        }
        if (children.count > 1)
            qsort_r(children.data, children.count, sizeof *children.data, tree_compare, &order);
        size_t kept = children.count;
        while (kept > 0) {
            uint64_t weight = measure_weight(&t->nodes.data[children.data[kept - 1]].m, measure);
            if (weight != 0 && (double)weight >= least)
                break;
            kept--;
        }
        if (code == 0 && !tree_link(t, (uint32_t)i, children.data, children.count, kept))
            code = tree_no_memory(err);
    }
    vec_release(&children);
    return code;
}

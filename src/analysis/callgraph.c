/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * callgraph: see callgraph.h.
 *
 * All traces together are a tree.  What sites below a trace have is summed up
 * once; then the tree is walked twice, first for the functions, then, when it is
 * known which of them are shown, for the edges.  On the way from the root to a
 * trace every function (or edge) has a count of how often it is on that way, and
 * only the first one adds.
 */
#include "analysis/callgraph.h"

#include <stdlib.h>
#include <string.h>

#include "tool/map.h"
#include "tool/memory.h"

#define CALLGRAPH_NONE UINT32_MAX

struct callgraph_symbol {
    uint64_t self, all;
    uint32_t frame;
    uint32_t passes; /* on the way to the current trace */
    uint32_t node;   /* CALLGRAPH_NONE: left out */
    bool lines_differ, is_seen;
};

struct callgraph_walk {
    struct callgraph *graph;
    const struct traces *traces;
    uint64_t *own, *below;            /* by trace: what ends in it, and that with all below */
    uint32_t *near;                   /* by trace: itself or the nearest caller that is shown; 0 = none */
    struct callgraph_symbol *symbols; /* by number */
    struct map slots;                 /* from << 32 | to -> edge */
    VEC(uint32_t) passes;             /* by edge: on the way to the current trace */
    bool failed;
};

typedef void callgraph_fn(struct callgraph_walk *w, uint32_t trace);

void callgraph_init(struct callgraph *g, enum measure measure, double threshold)
{
    *g = (struct callgraph){.measure = measure, .threshold = threshold};
}

void callgraph_release(struct callgraph *g)
{
    vec_release(&g->nodes);
    vec_release(&g->edges);
}

static void callgraph_each(struct callgraph_walk *w, callgraph_fn *enter, callgraph_fn *leave)
{
    const struct trace *t = w->traces->traces.data;
    bool down = true;
    uint32_t at = t == NULL ? 0 : t[0].child;
    while (at != 0 && !w->failed) {
        if (down) {
            enter(w, at);
            down = t[at].child != 0;
            if (down) {
                at = t[at].child;
                continue;
            }
        }
        leave(w, at);
        down = t[at].sibling != 0;
        at = down ? t[at].sibling : t[at].parent;
    }
}

/* -------------------------------------------------------------------- functions */

static struct callgraph_symbol *callgraph_symbol_of(const struct callgraph_walk *w, uint32_t trace)
{
    return &w->symbols[traces_frame(w->traces, trace)->symbol];
}

static void callgraph_enter_function(struct callgraph_walk *w, uint32_t trace)
{
    struct callgraph_symbol *s = callgraph_symbol_of(w, trace);
    const struct trace *t = &w->traces->traces.data[trace];
    const struct frame *frames = w->traces->frames.data;
    if (w->below[trace] != 0) {
        if (!s->is_seen)
            s->frame = t->frame;
        s->is_seen = true;
        s->lines_differ |= frames[s->frame].line != frames[t->frame].line;
    }
    s->self += w->own[trace];
    if (s->passes++ == 0)
        s->all += w->below[trace];
}

static void callgraph_leave_function(struct callgraph_walk *w, uint32_t trace)
{
    callgraph_symbol_of(w, trace)->passes--;
}

static int callgraph_compare(const void *left, const void *right, void *context)
{
    const struct callgraph_node *a = left, *b = right;
    const struct traces *c = context;
    if (a->all != b->all)
        return a->all > b->all ? -1 : 1;
    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    const struct frame *f = &c->frames.data[a->frame], *g = &c->frames.data[b->frame];
    int differ = strcmp(f->function, g->function);
    differ = differ != 0 ? differ : strcmp(f->module, g->module);
    return differ != 0 ? differ : (f->address > g->address) - (f->address < g->address);
}

/* Makes nodes of the functions that are large enough. */
static void callgraph_choose(struct callgraph_walk *w)
{
    struct callgraph *g = w->graph;
    double least = g->threshold * (double)g->total;
    for (uint32_t s = 1; s <= w->traces->symbols && !w->failed; s++) {
        const struct callgraph_symbol *symbol = &w->symbols[s];
        w->symbols[s].node = CALLGRAPH_NONE;
        if (symbol->all == 0)
            continue;
        struct callgraph_node node = {symbol->frame, symbol->lines_differ, symbol->self, symbol->all};
        if ((double)symbol->all < least)
            g->left_out++;
        else
            w->failed = !vec_push(&g->nodes, node);
    }
    if (g->nodes.count > 1)
        qsort_r(g->nodes.data, g->nodes.count, sizeof *g->nodes.data, callgraph_compare,
                (void *)(uintptr_t)w->traces);
    for (size_t i = 0; i < g->nodes.count; i++)
        w->symbols[w->traces->frames.data[g->nodes.data[i].frame].symbol].node = (uint32_t)i;
}

/* ------------------------------------------------------------------------ edges */

/* The edge that ends in a trace; CALLGRAPH_NONE: none is shown, or no memory. */
static uint32_t callgraph_edge_of(struct callgraph_walk *w, uint32_t trace)
{
    uint32_t parent = traces_parent(w->traces, trace);
    uint32_t caller = parent == 0 ? 0 : w->near[parent];
    uint32_t to = callgraph_symbol_of(w, trace)->node;
    if (caller == 0 || to == CALLGRAPH_NONE || w->below[trace] == 0)
        return CALLGRAPH_NONE;
    uint32_t from = callgraph_symbol_of(w, caller)->node;
    uint64_t key = (uint64_t)from << 32 | to;
    const uint64_t *known = map_find(&w->slots, key);
    if (known != NULL)
        return (uint32_t)*known;
    struct callgraph_edge fresh = {.from = from, .to = to};
    if (!map_set(&w->slots, key, w->graph->edges.count) || !vec_push(&w->graph->edges, fresh) ||
        !vec_push(&w->passes, 0)) {
        w->failed = true;
        return CALLGRAPH_NONE;
    }
    return (uint32_t)(w->graph->edges.count - 1);
}

static void callgraph_enter_edge(struct callgraph_walk *w, uint32_t trace)
{
    uint32_t parent = traces_parent(w->traces, trace);
    bool is_shown = callgraph_symbol_of(w, trace)->node != CALLGRAPH_NONE;
    w->near[trace] = is_shown ? trace : parent == 0 ? 0 : w->near[parent];
    uint32_t at = callgraph_edge_of(w, trace);
    if (at == CALLGRAPH_NONE)
        return;
    struct callgraph_edge *e = &w->graph->edges.data[at];
    e->passes_over |= w->near[parent] != parent;
    if (w->passes.data[at]++ == 0)
        e->weight += w->below[trace];
}

static void callgraph_leave_edge(struct callgraph_walk *w, uint32_t trace)
{
    uint32_t at = callgraph_edge_of(w, trace);
    if (at != CALLGRAPH_NONE)
        w->passes.data[at]--;
}

static int callgraph_compare_edges(const void *left, const void *right)
{
    const struct callgraph_edge *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* ------------------------------------------------------------------------- both */

static void callgraph_sum(struct callgraph_walk *w, const struct sites *sites, size_t count)
{
    for (size_t i = 0; i < sites->list.count; i++) {
        uint64_t weight = measure_weight(&sites->list.data[i].m, w->graph->measure);
        w->own[sites->list.data[i].trace] += weight;
        w->graph->total += weight;
    }
    /* A trace comes after its parent. */
    for (size_t k = count; k-- > 1;) {
        w->below[k] += w->own[k];
        w->below[traces_parent(w->traces, (uint32_t)k)] += w->below[k];
    }
}

int callgraph_build(struct callgraph *g, const struct traces *c, const struct sites *sites, struct err *err)
{
    size_t count = c->traces.count == 0 ? 1 : c->traces.count;
    struct callgraph_walk w = {.graph = g, .traces = c};
    map_init(&w.slots);
    w.own = memory_new_zeroed(count, sizeof *w.own);
    w.below = memory_new_zeroed(count, sizeof *w.below);
    w.near = memory_new_zeroed(count, sizeof *w.near);
    w.symbols = memory_new_zeroed((size_t)c->symbols + 1, sizeof *w.symbols);
    w.failed = w.own == NULL || w.below == NULL || w.near == NULL || w.symbols == NULL;
    if (!w.failed) {
        callgraph_sum(&w, sites, count);
        callgraph_each(&w, callgraph_enter_function, callgraph_leave_function);
        callgraph_choose(&w);
        callgraph_each(&w, callgraph_enter_edge, callgraph_leave_edge);
        if (g->edges.count > 1)
            qsort(g->edges.data, g->edges.count, sizeof *g->edges.data, callgraph_compare_edges);
    }
    free(w.own);
    free(w.below);
    free(w.near);
    free(w.symbols);
    vec_release(&w.passes);
    map_release(&w.slots);
    return w.failed ? err_no_memory(err) : 0;
}

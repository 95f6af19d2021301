/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rollup: see rollup.h.
 */
#include "analysis/rollup.h"

#include <stdlib.h>
#include <string.h>

static const char *const rollup_names[ROLLUP_BY_COUNT] = {
    [ROLLUP_FUNCTION] = "function", [ROLLUP_LINE] = "line",     [ROLLUP_MODULE] = "module",
    [ROLLUP_FILE] = "file",         [ROLLUP_THREAD] = "thread", [ROLLUP_KIND] = "kind",
    [ROLLUP_PROCESS] = "process",
};

const char *rollup_by_name(enum rollup_by by)
{
    return rollup_names[by];
}

enum rollup_by rollup_by_find(const char *name)
{
    for (enum rollup_by by = ROLLUP_NONE + 1; by < ROLLUP_BY_COUNT; by++) {
        if (strcmp(rollup_names[by], name) == 0)
            return by;
    }
    return ROLLUP_NONE;
}

/* Hashed as bytes: no padding. */
struct rollup_line {
    const char *file;
    uint64_t line;
};

/* No pointer is as large, so frames without a line stay apart. */
#define ROLLUP_NO_LINE (UINT64_C(1) << 63)
#define ROLLUP_NO_STACK (ROLLUP_NO_LINE | UINT64_C(1) << 62)

void rollup_init(struct rollup *g, enum rollup_by by)
{
    memset(g, 0, sizeof *g);
    g->by = by;
    map_init(&g->slots);
}

void rollup_release(struct rollup *g)
{
    map_release(&g->slots);
    vec_release(&g->list);
}

/* Texts of frames are kept once, so their addresses tell them apart.  UINT64_MAX: no memory. */
static uint64_t rollup_frame_key(struct traces *c, enum rollup_by by, uint32_t number)
{
    const struct frame *f = &c->frames.data[number];
    struct rollup_line line = {f->file, f->line};
    const void *word;
    switch (by) {
    case ROLLUP_FUNCTION:
        return f->symbol;
    case ROLLUP_MODULE:
        return (uintptr_t)f->module;
    case ROLLUP_FILE:
        return f->file[0] == '\0' ? 0 : (uintptr_t)f->file;
    default:
        if (f->line == 0)
            return ROLLUP_NO_LINE | number;
        word = words_add(&c->words, &line, sizeof line);
        return word == NULL ? UINT64_MAX : (uintptr_t)word;
    }
}

/* The group of a key, made when it is new; NULL: no memory. */
static struct rollup_group *rollup_get(struct rollup *g, uint64_t key, const struct rollup_group *fresh)
{
    const uint64_t *known = map_find(&g->slots, key);
    if (known != NULL)
        return &g->list.data[*known];
    if (!vec_push(&g->list, *fresh) || !map_set(&g->slots, key, g->list.count - 1))
        return NULL;
    return &g->list.data[g->list.count - 1];
}

static bool rollup_count(struct rollup *g, uint64_t key, const struct rollup_group *fresh,
                         const struct metrics *m, bool self)
{
    struct rollup_group *group = rollup_get(g, key, fresh);
    if (group == NULL)
        return false;
    if (self)
        measure_add(&group->self, m);
    if (group->seen != g->rows) {
        measure_add(&group->inclusive, m);
        group->seen = g->rows;
    }
    return true;
}

static bool rollup_add_stack(struct rollup *g, struct traces *c, uint32_t trace, const struct metrics *m)
{
    if (trace == 0)
        return rollup_count(g, ROLLUP_NO_STACK, &(struct rollup_group){0}, m, true);
    uint32_t own = traces_find_own(c, trace);
    for (uint32_t at = trace; at != 0; at = traces_parent(c, at)) {
        uint32_t number = c->traces.data[at].frame;
        struct rollup_group fresh = {.frame = number + 1};
        uint64_t key = rollup_frame_key(c, g->by, number);
        if (key == UINT64_MAX || !rollup_count(g, key, &fresh, m, at == own))
            return false;
    }
    return true;
}

static bool rollup_add_row(struct rollup *g, struct traces *c, const struct query_row *row, uint32_t trace)
{
    struct rollup_group fresh = {0};
    switch (g->by) {
    case ROLLUP_THREAD:
        fresh.process = row->process;
        fresh.thread = row->thread;
        return rollup_count(g, (uint64_t)row->process << 32 | row->thread, &fresh, &row->m, true);
    case ROLLUP_KIND:
        fresh.kind = row->kind;
        return rollup_count(g, row->kind, &fresh, &row->m, true);
    case ROLLUP_PROCESS:
        fresh.process = row->process;
        return rollup_count(g, row->process, &fresh, &row->m, true);
    default:
        return rollup_add_stack(g, c, trace, &row->m);
    }
}

int rollup_add(struct rollup *g, struct traces *c, const struct query_row *rows, size_t count,
               struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t trace;
        int code = traces_find(c, rows[i].process, rows[i].stack, &trace, err);
        if (code != 0)
            return code;
        g->rows++;
        measure_add(&g->total, &rows[i].m);
        if (!rollup_add_row(g, c, &rows[i], trace))
            return err_no_memory(err);
    }
    for (size_t i = 0; g->by == ROLLUP_PROCESS && i < g->list.count; i++) {
        const struct metrics *m = &g->list.data[i].self;
        if (i == 0 || m->peak_bytes > g->total.peak_bytes) {
            g->total.peak_bytes = m->peak_bytes;
            g->total.peak_blocks = m->peak_blocks;
        }
    }
    return 0;
}

struct rollup_order {
    const struct traces *traces;
    enum measure measure;
};

static int rollup_compare_names(const struct traces *c, const struct rollup_group *a,
                                const struct rollup_group *b)
{
    if (a->frame != 0 && b->frame != 0) {
        const struct frame *f = &c->frames.data[a->frame - 1], *h = &c->frames.data[b->frame - 1];
        int differ = strcmp(f->function, h->function);
        differ = differ != 0 ? differ : strcmp(f->file, h->file);
        differ = differ != 0 ? differ : strcmp(f->module, h->module);
        if (differ != 0)
            return differ;
        return f->line != h->line ? (f->line > h->line) - (f->line < h->line)
                                  : (f->address > h->address) - (f->address < h->address);
    }
    uint64_t x = (uint64_t)a->process << 32 | (a->thread + a->kind);
    uint64_t y = (uint64_t)b->process << 32 | (b->thread + b->kind);
    return (x > y) - (x < y);
}

static int rollup_compare(const void *left, const void *right, void *context)
{
    const struct rollup_group *a = left, *b = right;
    const struct rollup_order *o = context;
    uint64_t x = measure_weight(&a->self, o->measure), y = measure_weight(&b->self, o->measure);
    if (x != y)
        return x > y ? -1 : 1;
    x = measure_weight(&a->inclusive, o->measure), y = measure_weight(&b->inclusive, o->measure);
    if (x != y)
        return x > y ? -1 : 1;
    x = measure_blocks(&a->inclusive, o->measure), y = measure_blocks(&b->inclusive, o->measure);
    if (x != y)
        return x > y ? -1 : 1;
    return rollup_compare_names(o->traces, a, b);
}

void rollup_sort(struct rollup *g, const struct traces *c, enum measure measure)
{
    struct rollup_order order = {c, measure};
    if (g->list.count > 1)
        qsort_r(g->list.data, g->list.count, sizeof *g->list.data, rollup_compare, &order);
}

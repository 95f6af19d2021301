/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * group: see group.h.
 */
#include "query/group.h"

#include <stdlib.h>
#include <string.h>

static const char *const group_names[GROUP_BY_COUNT] = {
    [GROUP_FUNCTION] = "function", [GROUP_LINE] = "line", [GROUP_MODULE] = "module",   [GROUP_FILE] = "file",
    [GROUP_THREAD] = "thread",     [GROUP_KIND] = "kind", [GROUP_PROCESS] = "process",
};

const char *group_by_name(enum group_by by)
{
    return group_names[by];
}

enum group_by group_by_find(const char *name)
{
    for (enum group_by by = GROUP_NONE + 1; by < GROUP_BY_COUNT; by++) {
        if (strcmp(group_names[by], name) == 0)
            return by;
    }
    return GROUP_NONE;
}

/* Hashed as bytes: no padding. */
struct group_line {
    const char *file;
    uint64_t line;
};

/* No pointer is as large, so frames without a line stay apart. */
#define GROUP_NO_LINE (UINT64_C(1) << 63)
#define GROUP_NO_STACK (GROUP_NO_LINE | UINT64_C(1) << 62)

void groups_init(struct groups *g, enum group_by by)
{
    memset(g, 0, sizeof *g);
    g->by = by;
    map_init(&g->slots);
}

void groups_release(struct groups *g)
{
    map_release(&g->slots);
    vec_release(&g->list);
}

/* Texts of frames are kept once, so their addresses tell them apart.  UINT64_MAX: no memory. */
static uint64_t group_frame_key(struct chains *c, enum group_by by, uint32_t number)
{
    const struct frame *f = &c->frames.data[number];
    struct group_line line = {f->file, f->line};
    const void *word;
    switch (by) {
    case GROUP_FUNCTION:
        return f->symbol;
    case GROUP_MODULE:
        return (uintptr_t)f->module;
    case GROUP_FILE:
        return f->file[0] == '\0' ? 0 : (uintptr_t)f->file;
    default:
        if (f->line == 0)
            return GROUP_NO_LINE | number;
        word = words_add(&c->words, &line, sizeof line);
        return word == NULL ? UINT64_MAX : (uintptr_t)word;
    }
}

/* The group of a key, made when it is new; NULL: no memory. */
static struct group *groups_get(struct groups *g, uint64_t key, const struct group *fresh)
{
    const uint64_t *known = map_find(&g->slots, key);
    if (known != NULL)
        return &g->list.data[*known];
    if (!vec_push(&g->list, *fresh) || !map_set(&g->slots, key, g->list.count - 1))
        return NULL;
    return &g->list.data[g->list.count - 1];
}

static bool groups_count(struct groups *g, uint64_t key, const struct group *fresh, const struct metrics *m,
                         bool self)
{
    struct group *group = groups_get(g, key, fresh);
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

static bool groups_add_stack(struct groups *g, struct chains *c, uint32_t chain, const struct metrics *m)
{
    if (chain == 0)
        return groups_count(g, GROUP_NO_STACK, &(struct group){0}, m, true);
    uint32_t own = chains_find_own(c, chain);
    for (uint32_t at = chain; at != 0; at = chains_parent(c, at)) {
        uint32_t number = c->chains.data[at].frame;
        struct group fresh = {.frame = number + 1};
        uint64_t key = group_frame_key(c, g->by, number);
        if (key == UINT64_MAX || !groups_count(g, key, &fresh, m, at == own))
            return false;
    }
    return true;
}

static bool groups_add_row(struct groups *g, struct chains *c, const struct query_row *row, uint32_t chain)
{
    struct group fresh = {0};
    switch (g->by) {
    case GROUP_THREAD:
        fresh.process = row->process;
        fresh.thread = row->thread;
        return groups_count(g, (uint64_t)row->process << 32 | row->thread, &fresh, &row->m, true);
    case GROUP_KIND:
        fresh.kind = row->kind;
        return groups_count(g, row->kind, &fresh, &row->m, true);
    case GROUP_PROCESS:
        fresh.process = row->process;
        return groups_count(g, row->process, &fresh, &row->m, true);
    default:
        return groups_add_stack(g, c, chain, &row->m);
    }
}

int groups_add(struct groups *g, struct chains *c, const struct query_row *rows, size_t count,
               struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t chain;
        int code = chains_find(c, rows[i].process, rows[i].stack, &chain, err);
        if (code != 0)
            return code;
        g->rows++;
        measure_add(&g->total, &rows[i].m);
        if (!groups_add_row(g, c, &rows[i], chain))
            return err_set(err, ERR_MEMORY, "There is no memory for the groups.");
    }
    return 0;
}

struct groups_order {
    const struct chains *chains;
    enum measure measure;
};

static int group_compare_names(const struct chains *c, const struct group *a, const struct group *b)
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

static int group_compare(const void *left, const void *right, void *context)
{
    const struct group *a = left, *b = right;
    const struct groups_order *o = context;
    uint64_t x = measure_weight(&a->self, o->measure), y = measure_weight(&b->self, o->measure);
    if (x != y)
        return x > y ? -1 : 1;
    x = measure_weight(&a->inclusive, o->measure), y = measure_weight(&b->inclusive, o->measure);
    if (x != y)
        return x > y ? -1 : 1;
    x = measure_blocks(&a->inclusive, o->measure), y = measure_blocks(&b->inclusive, o->measure);
    if (x != y)
        return x > y ? -1 : 1;
    return group_compare_names(o->chains, a, b);
}

void groups_sort(struct groups *g, const struct chains *c, enum measure measure)
{
    struct groups_order order = {c, measure};
    if (g->list.count > 1)
        qsort_r(g->list.data, g->list.count, sizeof *g->list.data, group_compare, &order);
}

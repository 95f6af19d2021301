/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * compare: see compare.h.
 *
 * A path is a number for the names of all functions of a trace.  A trace comes
 * after its parent, so one pass gives each trace its path: that of its parent
 * and its own function, looked up as a pair.
 */
#include "analysis/compare.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/words.h"
#include "tool/map.h"
#include "tool/memory.h"
#include "tool/strbuf.h"

void compare_init(struct compare *d)
{
    memset(d, 0, sizeof *d);
}

void compare_release(struct compare *d)
{
    vec_release(&d->list);
}

/* ------------------------------------------------------------------ same code */

/* A number for the build id of a module; modules without one get that of their path. */
static uint64_t compare_module_id(const struct wake_process *p, const struct wake_module *m)
{
    const char *path = wake_process_module_path(p, m);
    const uint8_t *bytes = m->build_id_length != 0 ? m->build_id : (const uint8_t *)path;
    size_t length = m->build_id_length != 0 ? m->build_id_length : strlen(path);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* What the files of a recording's code are, whatever their order and number of mappings. */
static bool compare_collect(struct map *ids, const struct wake_reader *r)
{
    for (size_t i = 0; i < wake_reader_process_count(r); i++) {
        const struct wake_process *p = wake_reader_process(r, i);
        for (size_t k = 0; k < p->modules.count; k++) {
            if (!map_set(ids, compare_module_id(p, &p->modules.data[k]), 1))
                return false;
        }
    }
    return true;
}

/* Whether all of one are among the other. */
static bool compare_has_all(const struct map *of, const struct map *in)
{
    uint64_t id, value;
    for (size_t at = 0; map_next(of, &at, &id, &value);)
        if (map_find(in, id) == NULL)
            return false;
    return true;
}

/* A recording knows the files that occur in its stacks: what only one has called is missing in the other, and is no
 * sign of another build. */
bool compare_is_same_code(const struct wake_reader *before, const struct wake_reader *after)
{
    struct map a, b;
    if (before == after)
        return true;
    map_init(&a);
    map_init(&b);
    bool same = compare_collect(&a, before) && compare_collect(&b, after) &&
                (compare_has_all(&a, &b) || compare_has_all(&b, &a));
    map_release(&a);
    map_release(&b);
    return same;
}

/* ---------------------------------------------------------------------- paths */

struct compare_paths {
    struct words words;
    struct map pairs;     /* path of the parent << 32 | function -> path */
    struct map functions; /* word -> function */
    uint32_t *functions_of_frames;
    uint32_t *paths; /* by trace */
};

static bool compare_name_frame(struct compare_paths *p, const struct frame *f, uint32_t *function,
                               struct strbuf *scratch)
{
    const char *name = f->function;
    strbuf_clear(scratch);
    if (name[0] == '\0') {
        strbuf_addf(scratch, "%s+%llx", frame_basename(f->module), (unsigned long long)f->address);
        name = strbuf_get(scratch);
    }
    const char *word = words_add_text(&p->words, name);
    if (word == NULL || scratch->failed)
        return false;
    const uint64_t *known = map_find(&p->functions, (uintptr_t)word);
    *function = known != NULL ? (uint32_t)*known : (uint32_t)map_count(&p->functions) + 1;
    return known != NULL || map_set(&p->functions, (uintptr_t)word, *function);
}

static bool compare_find_paths(struct compare_paths *p, const struct traces *c)
{
    struct strbuf scratch;
    bool ok = true;
    p->functions_of_frames = memory_new_zeroed(c->frames.count + 1, sizeof *p->functions_of_frames);
    p->paths = memory_new_zeroed(c->traces.count + 1, sizeof *p->paths);
    if (p->functions_of_frames == NULL || p->paths == NULL)
        return false;
    strbuf_init(&scratch);
    for (size_t i = 0; i < c->frames.count && ok; i++)
        ok = compare_name_frame(p, &c->frames.data[i], &p->functions_of_frames[i], &scratch);
    strbuf_release(&scratch);
    for (size_t i = 1; i < c->traces.count && ok; i++) {
        const struct trace *t = &c->traces.data[i];
        uint64_t key = (uint64_t)p->paths[t->parent] << 32 | p->functions_of_frames[t->frame];
        const uint64_t *known = map_find(&p->pairs, key);
        p->paths[i] = known != NULL ? (uint32_t)*known : (uint32_t)map_count(&p->pairs) + 1;
        ok = known != NULL || map_set(&p->pairs, key, p->paths[i]);
    }
    return ok;
}

static void compare_paths_release(struct compare_paths *p)
{
    free(p->functions_of_frames);
    free(p->paths);
    map_release(&p->functions);
    map_release(&p->pairs);
    words_release(&p->words);
}

/* -------------------------------------------------------------------- matching */

struct compare_entry {
    const struct site *site;
    bool is_after, is_used;
    uint32_t path;
};

struct compare_work {
    struct compare *to;
    const struct traces *traces;
    VEC(struct compare_entry) entries;
};

static int compare_no_memory(struct err *err)
{
    return err_no_memory(err);
}

static bool compare_add(struct compare *d, const struct site *before, const struct site *after)
{
    struct compare_row row = {.was = before != NULL, .is = after != NULL};
    if (before != NULL) {
        row.trace = before->trace;
        row.before = before->m;
    }
    if (after != NULL) {
        row.trace = after->trace;
        row.after = after->m;
    }
    return vec_push(&d->list, row);
}

/* By path, before and after apart, then by lines from the inside out. */
static int compare_order(const void *left, const void *right, void *context)
{
    const struct compare_entry *a = left, *b = right;
    const struct traces *c = context;
    if (a->path != b->path)
        return a->path < b->path ? -1 : 1;
    if (a->is_after != b->is_after)
        return a->is_after ? 1 : -1;
    uint32_t x = a->site->trace, y = b->site->trace;
    for (; x != y && x != 0 && y != 0; x = traces_parent(c, x), y = traces_parent(c, y)) {
        const struct frame *f = traces_frame(c, x), *g = traces_frame(c, y);
        if (f->line != g->line)
            return f->line < g->line ? -1 : 1;
        if (f->line == 0 && f->address != g->address)
            return f->address < g->address ? -1 : 1;
    }
    return a->site->trace == b->site->trace ? 0 : sites_compare_traces(c, a->site->trace, b->site->trace);
}

/* Sites with equal frames in entries[first..middle-1] (before) and [middle..end-1]. */
static bool compare_pair_equal(struct compare_work *w, size_t first, size_t middle, size_t end)
{
    struct map by_trace;
    bool ok = true;
    map_init(&by_trace);
    for (size_t i = middle; i < end && ok; i++)
        ok = map_set(&by_trace, w->entries.data[i].site->trace, i);
    for (size_t i = first; i < middle && ok; i++) {
        struct compare_entry *e = &w->entries.data[i];
        const uint64_t *at = map_find(&by_trace, e->site->trace);
        if (at == NULL)
            continue;
        e->is_used = w->entries.data[*at].is_used = true;
        ok = compare_add(w->to, e->site, w->entries.data[*at].site);
    }
    map_release(&by_trace);
    return ok;
}

/* What has no partner yet, in order; what is left over has come or gone. */
static bool compare_pair_rest(struct compare_work *w, size_t first, size_t middle, size_t end, bool in_pairs)
{
    bool ok = true;
    for (size_t i = first, k = middle; (i < middle || k < end) && ok;) {
        struct compare_entry *before = i < middle ? &w->entries.data[i] : NULL;
        struct compare_entry *after = k < end ? &w->entries.data[k] : NULL;
        if (before != NULL && before->is_used) {
            i++;
        } else if (after != NULL && after->is_used) {
            k++;
        } else if (before != NULL && (after == NULL || !in_pairs)) {
            ok = compare_add(w->to, before->site, NULL);
            i++;
        } else if (before == NULL) {
            ok = compare_add(w->to, NULL, after->site);
            k++;
        } else {
            ok = compare_add(w->to, before->site, after->site);
            i++, k++;
        }
    }
    return ok;
}

/* All sites of one call path. */
static bool compare_group(struct compare_work *w, size_t first, size_t end, bool same_code)
{
    size_t middle = first;
    while (middle < end && !w->entries.data[middle].is_after)
        middle++;
    bool by_order = !same_code && middle - first == end - middle;
    if (!by_order && !compare_pair_equal(w, first, middle, end))
        return false;
    return compare_pair_rest(w, first, middle, end, !same_code);
}

static bool compare_gather(struct compare_work *w, const struct sites *sites, bool is_after,
                           const uint32_t *paths)
{
    for (size_t i = 0; i < sites->list.count; i++) {
        const struct site *site = &sites->list.data[i];
        struct compare_entry e = {site, is_after, false, paths == NULL ? 0 : paths[site->trace]};
        if (!vec_push(&w->entries, e))
            return false;
    }
    return true;
}

int compare_build(struct compare *d, const struct traces *c, const struct sites *before,
                  const struct sites *after, bool same_code, struct err *err)
{
    struct compare_work w = {.to = d, .traces = c};
    struct compare_paths p = {0};
    words_init(&p.words);
    map_init(&p.pairs);
    map_init(&p.functions);
    d->before = before->total;
    d->after = after->total;
    bool ok = same_code || compare_find_paths(&p, c);
    ok = ok && compare_gather(&w, before, false, p.paths) && compare_gather(&w, after, true, p.paths);
    if (ok && !same_code && w.entries.count > 1)
        qsort_r(w.entries.data, w.entries.count, sizeof *w.entries.data, compare_order, (void *)c);
    for (size_t first = 0, end; ok && first < w.entries.count; first = end) {
        for (end = first; end < w.entries.count && w.entries.data[end].path == w.entries.data[first].path;)
            end++;
        ok = compare_group(&w, first, end, same_code);
    }
    vec_release(&w.entries);
    compare_paths_release(&p);
    return ok ? 0 : compare_no_memory(err);
}

/* --------------------------------------------------------------------- changes */

int64_t compare_bytes(const struct compare_row *r, enum measure measure)
{
    return (int64_t)(measure_bytes(&r->after, measure) - measure_bytes(&r->before, measure));
}

int64_t compare_blocks(const struct compare_row *r, enum measure measure)
{
    return (int64_t)(measure_blocks(&r->after, measure) - measure_blocks(&r->before, measure));
}

/* What rows are sorted by: bytes or blocks. */
static int64_t compare_weight(const struct compare_row *r, enum measure measure)
{
    return measure_is_by_blocks(measure) ? compare_blocks(r, measure) : compare_bytes(r, measure);
}

static uint64_t compare_size(int64_t change)
{
    return change < 0 ? 0 - (uint64_t)change : (uint64_t)change;
}

struct compare_by {
    const struct traces *traces;
    enum measure measure;
    bool grown; /* first */
};

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct compare_row *a = left, *b = right;
    const struct compare_by *by = context;
    uint64_t x = compare_size(compare_weight(a, by->measure));
    uint64_t y = compare_size(compare_weight(b, by->measure));
    bool more = compare_weight(a, by->measure) > 0, other = compare_weight(b, by->measure) > 0;
    if (by->grown && more != other)
        return more ? -1 : 1;
    if (x == y) { /* blocks where bytes decide, and the other way round */
        x = compare_size(compare_bytes(a, by->measure)) + compare_size(compare_blocks(a, by->measure));
        y = compare_size(compare_bytes(b, by->measure)) + compare_size(compare_blocks(b, by->measure));
    }
    if (x != y)
        return x > y ? -1 : 1;
    if (a->trace != b->trace)
        return sites_compare_traces(by->traces, a->trace, b->trace);
    return (int)a->is - (int)b->is;
}

static void compare_put_in_order(struct compare *d, struct compare_by *by)
{
    if (d->list.count > 1)
        qsort_r(d->list.data, d->list.count, sizeof *d->list.data, compare_rows, by);
}

size_t compare_sort(struct compare *d, const struct traces *c, enum measure measure)
{
    size_t changed = 0;
    compare_put_in_order(d, &(struct compare_by){c, measure, false});
    for (size_t i = 0; i < d->list.count; i++)
        changed +=
            compare_bytes(&d->list.data[i], measure) != 0 || compare_blocks(&d->list.data[i], measure) != 0;
    return changed;
}

size_t compare_sort_grown(struct compare *d, const struct traces *c, enum measure measure)
{
    size_t grown = 0;
    compare_put_in_order(d, &(struct compare_by){c, measure, true});
    while (grown < d->list.count && compare_weight(&d->list.data[grown], measure) > 0)
        grown++;
    return grown;
}

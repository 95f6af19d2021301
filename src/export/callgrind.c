/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * callgrind: costs of functions and of calls in the text of Valgrind's
 * Callgrind, for callgrind_annotate and KCachegrind.  An event is a measure.
 *
 * What a site has is the own cost of its innermost frame, at its line, and is
 * carried by every call on its stack.  Readers add up what calls bring to
 * a function, so a call into a function that is on the stack already, further
 * out, carries nothing: a recursive function counts once a stack.
 *
 * Lines of the file:
 *
 *     fn=(2) name               from here on costs of this function
 *     17 100 1 ...              own costs of line 17
 *     cfn=(3) name
 *     calls=5 40                from the line below, to line 40 of the function (3)
 *     18 100 1 ...              what those calls cost
 */
#include "export/export.h"

#include <stdlib.h>

#include "analysis/words.h"
#include "engine/measure.h"
#include "export/caption.h"
#include "present/suppressed.h"
#include "tool/map.h"
#include "tool/memory.h"
#include "tool/vec.h"

enum { CALLGRIND_EVENTS = 7 };

static const struct {
    const char *name, *title;
    enum measure measure;
    bool blocks;
} callgrind_events[CALLGRIND_EVENTS] = {
    {"PeakBytes", "Bytes held at the peak", MEASURE_PEAK, false},
    {"PeakBlocks", "Blocks held at the peak", MEASURE_PEAK, true},
    {"LeakedBytes", "Bytes never freed", MEASURE_LEAKED, false},
    {"LeakedBlocks", "Blocks never freed", MEASURE_LEAKED, true},
    {"Bytes", "Bytes allocated", MEASURE_ALLOCATED, false},
    {"Blocks", "Blocks allocated", MEASURE_ALLOCATED, true},
    {"Temporary", "Blocks freed at once", MEASURE_TEMPORARY, true},
};

/* Where costs stand; equal keys are one.  No padding: its bytes are compared. */
struct callgrind_key {
    uint32_t function, line;
    uint32_t callee; /* 0: own cost */
};

struct callgrind_cost {
    struct callgrind_key key;
    uint64_t calls;
    uint64_t costs[CALLGRIND_EVENTS];
};

struct callgrind {
    const struct export_job *job;
    struct words words;
    struct map slots; /* word of a key -> index in costs */
    VEC(struct callgrind_cost) costs;
    VEC(uint32_t) path;
    uint32_t *frames; /* by function: one of its frames + 1 */
    uint32_t *visits; /* by function: the site + 1 that was there last */
    bool *is_written; /* by function: its name is in the file */
    uint32_t functions;
};

/* Function 0 stands for sites without a stack; others are symbols of the traces. */
static bool callgrind_add(struct callgrind *g, const struct callgrind_key *key, const struct metrics *m)
{
    const void *word = words_add(&g->words, key, sizeof *key);
    if (word == NULL)
        return false;
    const uint64_t *known = map_find(&g->slots, (uint64_t)(uintptr_t)word);
    size_t at = known != NULL ? *known : g->costs.count;
    if (known == NULL && (!vec_push(&g->costs, ((struct callgrind_cost){.key = *key})) ||
                          !map_set(&g->slots, (uint64_t)(uintptr_t)word, at)))
        return false;
    struct callgrind_cost *cost = &g->costs.data[at];
    cost->calls += m->allocated_blocks;
    for (unsigned i = 0; i < CALLGRIND_EVENTS; i++)
        cost->costs[i] += callgrind_events[i].blocks ? measure_blocks(m, callgrind_events[i].measure)
                                                     : measure_bytes(m, callgrind_events[i].measure);
    return true;
}

static bool callgrind_add_site(struct callgrind *g, const struct site *s, uint32_t number)
{
    const struct traces *c = g->job->traces;
    struct callgrind_key key = {0};
    g->path.count = 0;
    for (uint32_t t = s->trace; t != 0; t = traces_parent(c, t))
        if (!vec_push(&g->path, c->traces.data[t].frame))
            return false;
    for (size_t i = g->path.count; i-- > 0;) {
        const struct frame *f = &c->frames.data[g->path.data[i]];
        if (g->frames[f->symbol] == 0)
            g->frames[f->symbol] = g->path.data[i] + 1;
        bool is_new = g->visits[f->symbol] != number + 1;
        g->visits[f->symbol] = number + 1;
        key.callee = f->symbol;
        if (is_new && i + 1 < g->path.count && !callgrind_add(g, &key, &s->m))
            return false;
        key = (struct callgrind_key){.function = f->symbol, .line = f->line};
    }
    return callgrind_add(g, &key, &s->m);
}

static int callgrind_compare(const void *a, const void *b)
{
    const struct callgrind_key *x = a, *y = b; /* the first member of a cost */
    const uint32_t of_x[] = {x->function, x->callee != 0, x->line, x->callee};
    const uint32_t of_y[] = {y->function, y->callee != 0, y->line, y->callee};
    for (unsigned i = 0; i < 4; i++)
        if (of_x[i] != of_y[i])
            return of_x[i] < of_y[i] ? -1 : 1;
    return 0;
}

/* ---------------------------------------------------------------------- file */

/* File and name of a function; names are given once, then their number does. */
static void callgrind_write_name(struct callgrind *g, uint32_t function, bool is_callee)
{
    struct strbuf *b = &g->job->out->buffer;
    const struct frame *f =
        g->frames[function] == 0 ? NULL : &g->job->traces->frames.data[g->frames[function] - 1];
    const char *c = is_callee ? "c" : "";
    strbuf_addf(b, "%sob=", c);
    caption_add_text(b, f == NULL || f->module[0] == '\0' ? "???" : f->module);
    strbuf_addf(b, is_callee ? "\ncfi=" : "\nfl=");
    caption_add_text(b, f == NULL || f->file[0] == '\0' ? "???" : f->file);
    strbuf_addf(b, "\n%sfn=(%u)", c, function + 1);
    if (!g->is_written[function]) {
        strbuf_add_char(b, ' ');
        if (f == NULL)
            strbuf_add_text(b, CAPTION_NO_STACK);
        else
            caption_add(b, f);
        g->is_written[function] = true;
    }
    strbuf_add_char(b, '\n');
}

static void callgrind_write_numbers(struct callgrind *g, const uint64_t *costs)
{
    for (unsigned i = 0; i < CALLGRIND_EVENTS; i++) {
        out_text(g->job->out, " ");
        out_number(g->job->out, costs[i]);
    }
    out_text(g->job->out, "\n");
}

static void callgrind_write_head(struct callgrind *g)
{
    struct out *o = g->job->out;
    uint64_t sums[CALLGRIND_EVENTS];
    out_text(o, "# callgrind format\nversion: 1\ncreator: heapwake " HEAPWAKE_VERSION "\ncmd: ");
    caption_add_command(&o->buffer, g->job->veil,
                        wake_reader_process(g->job->reader, g->job->result->peak_process));
    out_text(o, "\npositions: line\n");
    for (unsigned i = 0; i < CALLGRIND_EVENTS; i++) {
        out_f(o, "event: %s : %s", callgrind_events[i].name, callgrind_events[i].title);
        suppressed_note(&o->buffer, callgrind_events[i].measure, g->job->suppress);
        out_text(o, "\n");
    }
    out_text(o, "events:");
    for (unsigned i = 0; i < CALLGRIND_EVENTS; i++) {
        const struct metrics *m = &g->job->sites->total;
        out_f(o, " %s", callgrind_events[i].name);
        sums[i] = callgrind_events[i].blocks ? measure_blocks(m, callgrind_events[i].measure)
                                             : measure_bytes(m, callgrind_events[i].measure);
    }
    out_text(o, "\nsummary:");
    callgrind_write_numbers(g, sums);
}

static void callgrind_write(struct callgrind *g)
{
    struct out *o = g->job->out;
    callgrind_write_head(g);
    if (g->costs.count > 0)
        qsort(g->costs.data, g->costs.count, sizeof *g->costs.data, callgrind_compare);
    for (size_t i = 0; i < g->costs.count; i++) {
        const struct callgrind_cost *cost = &g->costs.data[i];
        if (i == 0 || cost->key.function != g->costs.data[i - 1].key.function) {
            out_text(o, "\n");
            callgrind_write_name(g, cost->key.function, false);
        }
        if (cost->key.callee != 0) {
            callgrind_write_name(g, cost->key.callee, true);
            out_f(o, "calls=%llu %u\n", (unsigned long long)(cost->calls > 0 ? cost->calls : 1),
                  g->job->traces->frames.data[g->frames[cost->key.callee] - 1].line);
        }
        out_number(o, cost->key.line);
        callgrind_write_numbers(g, cost->costs);
    }
}

int export_callgrind(const struct export_job *job, struct err *err)
{
    struct callgrind g = {.job = job, .functions = job->traces->symbols + 1};
    words_init(&g.words);
    map_init(&g.slots);
    g.frames = memory_new_zeroed(g.functions, sizeof *g.frames);
    g.visits = memory_new_zeroed(g.functions, sizeof *g.visits);
    g.is_written = memory_new_zeroed(g.functions, sizeof *g.is_written);
    bool fine = g.frames != NULL && g.visits != NULL && g.is_written != NULL;
    for (size_t i = 0; i < job->sites->list.count && fine; i++)
        fine = callgrind_add_site(&g, &job->sites->list.data[i], (uint32_t)i);
    if (fine)
        callgrind_write(&g);
    words_release(&g.words);
    map_release(&g.slots);
    vec_release(&g.costs);
    vec_release(&g.path);
    free(g.frames);
    free(g.visits);
    free(g.is_written);
    return fine ? 0 : err_no_memory(err);
}

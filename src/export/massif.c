/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * massif: snapshots of the heap in the text of Valgrind's Massif, for ms_print
 * and massif-visualizer.
 *
 * A snapshot at the beginning, at equal steps of time, at the very moment of the peak and at
 * the end.  Every tenth, the peak and the last have a tree: who held what, the callers
 * below what they called, without what is below 1 %.  The extra bytes are
 * what the allocator added to the sizes asked for.
 *
 * A line of a tree is indented by its depth, and ms_print warns from a depth of 100
 * on, so trees end at MASSIF_DEPTH.
 */
#include "export/export.h"

#include "analysis/tree.h"
#include "engine/follow.h"
#include "export/caption.h"
#include "export/holding.h"
#include "export/subject.h"

enum { MASSIF_STEPS = 100, MASSIF_DETAILED = 10, MASSIF_DEPTH = 90 };
static const double massif_threshold = 0.01;

enum massif_tree { MASSIF_EMPTY, MASSIF_TREE, MASSIF_PEAK };

struct massif {
    const struct export_job *job;
    struct err *err;
    struct subject subject;
    struct holding holding;
    unsigned step;      /* the next one */
    unsigned snapshots; /* so far */
};

/* --------------------------------------------------------------------- trees */

/* Text of a program in a line; what follows a # would be a comment. */
static void massif_clean(struct strbuf *line, size_t from)
{
    for (size_t i = from; i < line->length; i++)
        if (line->text[i] == '#')
            line->text[i] = '.';
}

static void massif_write_node(struct massif *m, const struct tree *t, uint32_t node, unsigned depth)
{
    const struct tree_node *n = &t->nodes.data[node];
    struct strbuf *b = &m->job->out->buffer;
    unsigned children = 0;
    for (uint32_t k = depth + 1 < MASSIF_DEPTH ? n->child : 0; k != 0; k = t->nodes.data[k].next)
        children++;
    for (unsigned i = 0; i < depth; i++)
        strbuf_add_char(b, ' ');
    strbuf_addf(b, "n%u: %llu ", children, (unsigned long long)n->all.bytes);
    size_t begin = b->length;
    if (node == 0)
        strbuf_add_text(b, "(heap allocation functions) malloc/new/new[], --alloc-fns, etc.");
    else if (n->rest > 0)
        strbuf_addf(b, "in %u place%s below massif's threshold (%.2f%%)", n->rest,
                    n->rest == 1 ? "," : "s, all", massif_threshold * 100);
    else if (n->frame == 0)
        strbuf_add_text(b, "0x0: " CAPTION_NO_STACK);
    else
        caption_add_place(b, &m->job->traces->frames.data[n->frame - 1]);
    massif_clean(b, begin);
    strbuf_add_char(b, '\n');
    out_settle(m->job->out);
}

static void massif_write_tree(struct massif *m, const struct tree *t)
{
    uint32_t path[MASSIF_DEPTH] = {0};
    unsigned depth = 0;
    massif_write_node(m, t, 0, 0);
    for (;;) {
        uint32_t next = depth + 1 < MASSIF_DEPTH ? t->nodes.data[path[depth]].child : 0;
        if (next != 0) {
            depth++;
        } else {
            while (depth > 0 && (next = t->nodes.data[path[depth]].next) == 0)
                depth--;
            if (depth == 0)
                return;
        }
        path[depth] = next;
        massif_write_node(m, t, next, depth);
    }
}

static int massif_make_tree(struct massif *m)
{
    struct sites sites;
    struct tree tree;
    int code = 0;
    sites_init(&sites);
    tree_init(&tree, TREE_CALLERS, MEASURE_LIVE, massif_threshold);
    for (size_t i = 0; i < m->holding.traces.count && code == 0; i++) {
        const struct holding_trace *t = &m->holding.traces.data[i];
        const struct metrics now = {.live_blocks = t->blocks, .live_bytes = t->bytes};
        if (t->blocks > 0 && !vec_push(&sites.list, ((struct site){.trace = t->trace, .rows = 1, .m = now})))
            code = err_no_memory(m->err);
    }
    if (code == 0)
        code = tree_build(&tree, m->job->traces, &sites, NULL, m->err);
    if (code == 0)
        massif_write_tree(m, &tree);
    tree_release(&tree);
    sites_release(&sites);
    return code;
}

/* ----------------------------------------------------------------- snapshots */

static int massif_write_snapshot(struct massif *m, uint64_t time_ns, enum massif_tree tree)
{
    static const char *const words[] = {"empty", "detailed", "peak"};
    const struct holding *h = &m->holding;
    uint64_t ns = time_ns > m->subject.from_ns ? time_ns - m->subject.from_ns : 0;
    out_f(m->job->out,
          "#-----------\nsnapshot=%u\n#-----------\ntime=%llu\nmem_heap_B=%llu\nmem_heap_extra_B=%llu\n"
          "mem_stacks_B=0\nheap_tree=%s\n",
          m->snapshots++, (unsigned long long)ns / 1000000, (unsigned long long)h->bytes,
          (unsigned long long)(h->usable - h->bytes), words[tree]);
    return tree == MASSIF_EMPTY ? 0 : massif_make_tree(m);
}

static uint64_t massif_step_ns(const struct massif *m, unsigned step)
{
    uint64_t whole = m->subject.to_ns - m->subject.from_ns;
    return m->subject.from_ns + whole / MASSIF_STEPS * step + whole % MASSIF_STEPS * step / MASSIF_STEPS;
}

/* Snapshots of all steps that lie before this moment. */
static int massif_advance(struct massif *m, uint64_t time_ns)
{
    int code = 0;
    for (; code == 0 && m->step < MASSIF_STEPS && massif_step_ns(m, m->step) < time_ns; m->step++)
        code = massif_write_snapshot(m, massif_step_ns(m, m->step),
                                     m->step % MASSIF_DETAILED == MASSIF_DETAILED - 1 ? MASSIF_TREE
                                                                                      : MASSIF_EMPTY);
    return code == 0 && m->job->out->error != 0 ? OUT_STOP : code;
}

static int massif_alloc(void *context, struct follow_block *b, bool is_earlier)
{
    struct massif *m = context;
    bool is_peak = false;
    int code = is_earlier ? 0 : massif_advance(m, b->born_ns);
    if (code == 0)
        code = holding_add(&m->holding, b, &is_peak, m->err);
    return code == 0 && is_peak ? massif_write_snapshot(m, b->born_ns, MASSIF_PEAK) : code;
}

static int massif_release(void *context, const struct follow_block *b, const struct follow_end *end)
{
    struct massif *m = context;
    int code = massif_advance(m, end->time_ns);
    holding_remove(&m->holding, b, end);
    return code;
}

static void massif_write_head(struct massif *m)
{
    struct strbuf *b = &m->job->out->buffer;
    strbuf_add_text(b, "desc: heapwake\ncmd: ");
    size_t begin = b->length;
    caption_add_command(b, m->job->veil, m->subject.process);
    massif_clean(b, begin);
    strbuf_add_text(b, "\ntime_unit: ms\n");
}

int export_massif(const struct export_job *job, struct err *err)
{
    static const struct follow_calls calls = {NULL, massif_alloc, massif_release, NULL};
    struct massif m = {.job = job, .err = err};
    subject_init(&m.subject, job);
    int code = holding_init(&m.holding, job, &m.subject, err);
    if (code == 0) {
        massif_write_head(&m);
        code = follow_run(job->query, job->reader, m.subject.index, WAKE_SIZE | WAKE_STACK | WAKE_USABLE,
                          &calls, &m, err);
    }
    if (code == 0)
        code = massif_advance(&m, UINT64_MAX);
    if (code == 0)
        code = massif_write_snapshot(&m, m.subject.to_ns, MASSIF_TREE);
    holding_release(&m.holding);
    return code == OUT_STOP ? 0 : code;
}

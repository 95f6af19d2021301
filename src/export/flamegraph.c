/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * flamegraph: one picture (SVG) of the stacks by one measure: below each function
 * stand those it called, as wide as what they have.  It needs nothing outside
 * itself; browsers can zoom into it (click) and search it.
 *
 *     +--------------------------------------------+
 *     | main                                       |
 *     +----------------------------+-----------+---+
 *     | cook_course                | serve     |     <- nothing below: main's own
 *     +----------------------------+-----------+
 *
 * The picture has a size of its own: one that a window gives it would make the text of
 * deep stacks too small to read.  What is narrower than a fraction of a point is one grey box with its
 * siblings; what is deeper than FLAMEGRAPH_DEPTH is left out, and said.
 */
#include "export/export.h"

#include <math.h>
#include <string.h>

#include "analysis/tree.h"
#include "export/caption.h"
#include "export/flamegraph_script.h"
#include "present/frames.h"
#include "present/suppressed.h"
#include "present/units.h"
#include "tool/vec.h"

enum {
    FLAMEGRAPH_WIDTH = 1200,
    FLAMEGRAPH_TOP = 64,
    FLAMEGRAPH_ROW = 18,
    FLAMEGRAPH_DEPTH = 600,
};
static const double flamegraph_threshold = 0.0002;
static const double flamegraph_letter = 6.7; /* width of one */

struct flamegraph_box {
    uint32_t node;
    unsigned depth;
    uint64_t from; /* where it begins, in the unit of the measure */
};

struct flamegraph {
    const struct export_job *job;
    struct tree tree;
    uint64_t total;
    unsigned depth; /* of the deepest box + 1 */
    bool is_cut;    /* something was too deep */
    VEC(struct flamegraph_box) boxes;
};

static uint64_t flamegraph_value(const struct flamegraph *g, const struct tree_node *n)
{
    return measure_is_by_blocks(g->job->measure) ? n->all.blocks : n->all.bytes;
}

/* Boxes in an order in which those above come first. */
static bool flamegraph_layout(struct flamegraph *g)
{
    if (!vec_push(&g->boxes, (struct flamegraph_box){0}))
        return false;
    for (size_t i = 0; i < g->boxes.count; i++) {
        struct flamegraph_box above = g->boxes.data[i];
        unsigned depth = i == 0 ? 0 : above.depth + 1;
        uint64_t from = above.from;
        uint32_t child = g->tree.nodes.data[above.node].child;
        if (child != 0 && depth >= FLAMEGRAPH_DEPTH) {
            g->is_cut = true;
            continue;
        }
        for (; child != 0; child = g->tree.nodes.data[child].next) {
            const struct tree_node *n = &g->tree.nodes.data[child];
            if (!vec_push(&g->boxes, ((struct flamegraph_box){child, depth, from})))
                return false;
            from += flamegraph_value(g, n);
            g->depth = depth + 1 > g->depth ? depth + 1 : g->depth;
        }
    }
    return true;
}

/* --------------------------------------------------------------------- boxes */

/* Warm for the program's own code, cool for libraries, grey for allocators and rests. */
static unsigned flamegraph_colour(const struct frame *f)
{
    static const unsigned char base[][3] = {[FRAME_OWN] = {226, 156, 84},
                                            [FRAME_LIBRARY] = {140, 178, 206},
                                            [FRAME_ALLOCATOR] = {190, 190, 190},
                                            [FRAME_GAP] = {240, 240, 240}};
    if (f == NULL)
        return 0xd8d8d8;
    const unsigned char *c = base[f->role <= FRAME_GAP ? f->role : FRAME_OWN];
    unsigned hash = f->symbol * 2654435761u, shade = hash >> 28, tint = hash >> 24 & 15;
    return (c[0] - shade) << 16 | (c[1] - tint) << 8 | (c[2] - shade);
}

static void flamegraph_name(const struct flamegraph *g, const struct tree_node *n, struct strbuf *name)
{
    strbuf_clear(name);
    if (n->rest != 0)
        strbuf_addf(name, "(%u smaller)", n->rest);
    else if (n->frame == 0)
        strbuf_add_text(name, CAPTION_NO_STACK);
    else
        caption_add(name, &g->job->traces->frames.data[n->frame - 1]);
}

/* What a pointer that rests on a box is told. */
static void flamegraph_write_title(const struct flamegraph *g, const struct tree_node *n,
                                   const struct frame *f, const char *name)
{
    struct strbuf *b = &g->job->out->buffer;
    char bytes[UNITS_MAX], blocks[UNITS_MAX];
    double share = g->total == 0 ? 0 : 100.0 * (double)flamegraph_value(g, n) / (double)g->total;
    strbuf_add_text(b, "<title>");
    caption_add_markup(b, name);
    strbuf_addf(b, "\n%.2f %%: %s in %s blocks", share, units_bytes(bytes, n->all.bytes),
                units_count(blocks, n->all.blocks));
    if (f != NULL && f->file[0] != '\0') {
        strbuf_add_char(b, '\n');
        caption_add_markup(b, f->file);
        if (f->line != 0 && !n->lines_differ)
            strbuf_addf(b, ":%u", f->line);
    }
    if (f != NULL && f->module[0] != '\0') {
        strbuf_add_char(b, '\n');
        caption_add_markup(b, f->module);
    }
    strbuf_add_text(b, "</title>");
}

/* As much of the name as there is room for. */
static void flamegraph_write_label(struct strbuf *out, struct strbuf *name, double width)
{
    double letters = floor((width - 6) / flamegraph_letter);
    if (letters < 3)
        return;
    if ((double)name->length > letters) {
        size_t keep = (size_t)letters - 1;
        while (keep > 0 && ((unsigned char)name->text[keep] & 0xc0) == 0x80)
            keep--; /* not inside a character */
        strbuf_cut(name, keep);
        strbuf_add_text(name, "\xe2\x80\xa6");
    }
    caption_add_markup(out, strbuf_get(name));
}

/* The rest of the tag and the title; leaves in `name` what the box itself shows: the name as reports
 * have it, without parameters and template arguments. */
static void flamegraph_begin_box(const struct flamegraph *g, const struct tree_node *n, const struct frame *f,
                                 struct strbuf *name)
{
    struct strbuf *b = &g->job->out->buffer;
    struct strbuf brief;
    strbuf_init(&brief);
    if (f != NULL)
        frames_add_name(&brief, f);
    bool is_shorter = f != NULL && !brief.failed && strcmp(strbuf_get(&brief), strbuf_get(name)) != 0;
    if (is_shorter) {
        strbuf_add_text(b, " data-brief=\"");
        caption_add_markup(b, strbuf_get(&brief));
        strbuf_add_char(b, '"');
    }
    strbuf_add_char(b, '>');
    flamegraph_write_title(g, n, f, strbuf_get(name));
    if (is_shorter) {
        strbuf_clear(name);
        strbuf_add(name, brief.text, brief.length);
    }
    strbuf_release(&brief);
}

static void flamegraph_write_box(const struct flamegraph *g, const struct flamegraph_box *box,
                                 struct strbuf *name)
{
    const struct tree_node *n = &g->tree.nodes.data[box->node];
    const struct frame *f = n->frame == 0 || n->rest != 0 ? NULL : &g->job->traces->frames.data[n->frame - 1];
    struct strbuf *b = &g->job->out->buffer;
    double scale = g->total == 0 ? 0 : FLAMEGRAPH_WIDTH / (double)g->total;
    double x = (double)box->from * scale, width = (double)flamegraph_value(g, n) * scale;
    unsigned y = FLAMEGRAPH_TOP + box->depth * FLAMEGRAPH_ROW;
    flamegraph_name(g, n, name);
    strbuf_addf(b, "<g class=\"box\" data-from=\"%llu\" data-value=\"%llu\" data-depth=\"%u\"",
                (unsigned long long)box->from, (unsigned long long)flamegraph_value(g, n), box->depth);
    flamegraph_begin_box(g, n, f, name);
    strbuf_addf(b,
                "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"#%06x\"/><text x=\"%.2f\" "
                "y=\"%u\">",
                x, y, width > 0.6 ? width - 0.5 : 0.1, FLAMEGRAPH_ROW - 1, flamegraph_colour(f), x + 3,
                y + 13);
    flamegraph_write_label(b, name, width);
    strbuf_add_text(b, "</text></g>\n");
    out_settle(g->job->out);
}

/* ---------------------------------------------------------------------- file */

static void flamegraph_write_head(const struct flamegraph *g)
{
    struct strbuf *b = &g->job->out->buffer;
    struct strbuf command;
    const struct tree_node *top = &g->tree.nodes.data[0];
    char bytes[UNITS_MAX], blocks[UNITS_MAX];
    unsigned height = FLAMEGRAPH_TOP + (g->depth + 1) * FLAMEGRAPH_ROW + 6;
    strbuf_addf(b,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"heapwake\" data-total=\"%llu\" "
                "viewBox=\"0 0 %d %u\" width=\"%d\" height=\"%u\">\n"
                "<style>text{font:12px sans-serif;fill:#222}.box{cursor:pointer}"
                ".box text{font:11px monospace;pointer-events:none}.box:hover rect{stroke:#222}"
                ".hit rect{fill:#c050c0}#head{font-size:17px}#reset{cursor:pointer;fill:#2060a0}</style>\n"
                "<rect width=\"%d\" height=\"%u\" fill=\"#fcfcfa\"/>\n<text id=\"head\" x=\"8\" y=\"24\">",
                (unsigned long long)g->total, FLAMEGRAPH_WIDTH, height, FLAMEGRAPH_WIDTH, height,
                FLAMEGRAPH_WIDTH, height);
    strbuf_add_text(b, measure_title(g->job->measure));
    if (g->job->measure == MEASURE_LIVE)
        strbuf_addf(b, " at %s", units_time(bytes, g->job->result->moment_ns));
    strbuf_addf(b, ": %s in %s blocks", units_bytes(bytes, top->all.bytes),
                units_count(blocks, top->all.blocks));
    suppressed_note(b, g->job->measure, g->job->suppress);
    strbuf_add_text(b, "</text>\n<text x=\"8\" y=\"46\">");
    strbuf_init(&command);
    caption_add_command(&command, g->job->veil,
                        wake_reader_process(g->job->reader, g->job->result->peak_process));
    if (command.length > 120) {
        strbuf_cut(&command, 120);
        strbuf_add_text(&command, "...");
    }
    caption_add_markup(b, strbuf_get(&command));
    strbuf_release(&command);
    strbuf_addf(b,
                "</text>\n<text id=\"reset\" x=\"%d\" y=\"46\">show all</text>\n"
                "<text id=\"found\" x=\"%d\" y=\"24\" text-anchor=\"end\"></text>\n"
                "<foreignObject x=\"%d\" y=\"6\" width=\"210\" height=\"28\"><input "
                "xmlns=\"http://www.w3.org/1999/xhtml\" id=\"search\" type=\"search\" "
                "placeholder=\"search functions\" style=\"width:200px\"/></foreignObject>\n",
                FLAMEGRAPH_WIDTH - 220, FLAMEGRAPH_WIDTH - 230, FLAMEGRAPH_WIDTH - 220);
}

static void flamegraph_write(const struct flamegraph *g)
{
    struct out *o = g->job->out;
    struct strbuf name;
    strbuf_init(&name);
    flamegraph_write_head(g);
    for (size_t i = 1; i < g->boxes.count && o->error == 0; i++)
        flamegraph_write_box(g, &g->boxes.data[i], &name);
    if (g->is_cut)
        out_f(o, "<text x=\"8\" y=\"%u\">Frames deeper than %d are not shown.</text>\n",
              FLAMEGRAPH_TOP + g->depth * FLAMEGRAPH_ROW + 15, FLAMEGRAPH_DEPTH);
    out_text(o, "<script><![CDATA[\n");
    for (size_t i = 0; i < sizeof flamegraph_script / sizeof *flamegraph_script; i++)
        out_f(o, "%s\n", flamegraph_script[i]);
    out_text(o, "]]></script>\n</svg>\n");
    strbuf_release(&name);
}

int export_flamegraph(const struct export_job *job, struct err *err)
{
    struct flamegraph g = {.job = job};
    tree_init(&g.tree, TREE_CALLEES, job->measure, flamegraph_threshold);
    int code = tree_build(&g.tree, job->traces, job->sites, NULL, err);
    if (code == 0) {
        g.total = flamegraph_value(&g, &g.tree.nodes.data[0]);
        if (!flamegraph_layout(&g))
            code = err_no_memory(err);
    }
    if (code == 0)
        flamegraph_write(&g);
    vec_release(&g.boxes);
    tree_release(&g.tree);
    return code;
}

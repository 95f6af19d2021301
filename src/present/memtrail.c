/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * memtrail: see memtrail.h.
 *
 * What is still to be written waits in a list: nodes, and the lines between siblings.
 */
#include "present/memtrail.h"

#include "present/safe.h"
#include "tool/vec.h"

struct memtrail_item {
    uint32_t node; /* 0 = a line between siblings */
    unsigned depth;
};

struct memtrail {
    struct strbuf *out;
    const struct traces *traces;
    const struct tree *tree;
    struct strbuf bars; /* of the levels around the latest node, and its own */
    VEC(struct memtrail_item) waiting;
};

/* Children and the lines between them, the last first. */
static bool memtrail_push_children(struct memtrail *m, uint32_t parent, unsigned depth)
{
    size_t first = m->waiting.count;
    for (uint32_t n = m->tree->nodes.data[parent].child; n != 0; n = m->tree->nodes.data[n].next) {
        if (!vec_push(&m->waiting, ((struct memtrail_item){n, depth})))
            return false;
        if (m->tree->nodes.data[n].next != 0 && !vec_push(&m->waiting, ((struct memtrail_item){0, depth})))
            return false;
    }
    for (size_t i = first, j = m->waiting.count; j > i + 1; i++) {
        struct memtrail_item swap = m->waiting.data[i];
        m->waiting.data[i] = m->waiting.data[--j];
        m->waiting.data[j] = swap;
    }
    return true;
}

static void memtrail_add_name(struct strbuf *out, const struct frame *f)
{
    char place[FRAME_PLACE_MAX];
    safe_add_text(out,
                  f->function[0] != '\0' ? f->function : frame_spell_place(place, f->module, f->address));
}

static void memtrail_add_node(struct memtrail *m, const struct tree_node *node)
{
    uint64_t total = m->tree->nodes.data[0].all.bytes;
    double share = total == 0 ? 0 : 100.0 * (double)node->all.bytes / (double)total;
    strbuf_addf(m->out, "%s->%5.2f%% (%lluB)", strbuf_get(&m->bars), share,
                (unsigned long long)node->all.bytes);
    if (node->rest != 0) {
        strbuf_addf(m->out, " in %u places, all below the %.2f%% threshold", node->rest,
                    m->tree->threshold * 100);
    } else {
        strbuf_add_text(m->out, ": ");
        if (node->frame == 0)
            strbuf_add_text(m->out, "??");
        else
            memtrail_add_name(m->out, &m->traces->frames.data[node->frame - 1]);
    }
    strbuf_add_char(m->out, '\n');
}

bool memtrail_add(struct strbuf *out, const struct traces *c, const struct tree *t)
{
    struct memtrail m = {.out = out, .traces = c, .tree = t};
    bool is_whole = true;
    strbuf_init(&m.bars);
    strbuf_addf(out, "----\n\n%s: %llu bytes\n\n",
                t->measure == MEASURE_LEAKED ? "leaked"
                : t->measure == MEASURE_PEAK ? "maximum"
                                             : measure_name(t->measure),
                (unsigned long long)t->nodes.data[0].all.bytes);
    bool has_room = memtrail_push_children(&m, 0, 0), has_lines = m.waiting.count != 0;
    while (has_room && m.waiting.count > 0) {
        struct memtrail_item item = m.waiting.data[--m.waiting.count];
        const struct tree_node *node = &t->nodes.data[item.node];
        strbuf_cut(&m.bars, 2 * (size_t)item.depth);
        if (item.node == 0) {
            strbuf_addf(out, "%s| \n", strbuf_get(&m.bars));
            continue;
        }
        memtrail_add_node(&m, node);
        strbuf_add_text(&m.bars, node->next != 0 ? "| " : "  ");
        is_whole &= item.depth + 1 < MEMTRAIL_DEPTH || node->child == 0;
        if (item.depth + 1 < MEMTRAIL_DEPTH)
            has_room = memtrail_push_children(&m, item.node, item.depth + 1);
    }
    strbuf_add_text(out, has_lines ? "\n" : "");
    out->failed |= !has_room || m.bars.failed;
    vec_release(&m.waiting);
    strbuf_release(&m.bars);
    return is_whole;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_tree: see section_tree.h.
 *
 * Trees are walked with a list of nodes still to be shown, never by recursion.
 */
#include "present/section_tree.h"

#include "present/frames.h"
#include "present/rounds.h"
#include "present/safe.h"
#include "present/suppressed.h"
#include "present/units.h"
#include "present/unknown.h"
#include "present/width.h"
#include "tool/vec.h"

#include <stdio.h>
#include <string.h>

/* Levels beyond those that a page has room for stand below each other, each with its number. */
enum { SECTION_TREE_INDENT = 2, SECTION_TREE_LEVELS = 16, SECTION_TREE_ROOM = 52 };

struct section_tree_item {
    uint32_t node;
    uint32_t parent; /* its number in the JSON list + 1; 0 = none */
    unsigned level;
    uint32_t open; /* bit n: further siblings follow at level n */
    bool is_alone; /* has no sibling */
};

typedef VEC(struct section_tree_item) section_tree_list;

/* Children in reverse, so that the first is taken first. */
static bool section_tree_push_children(section_tree_list *waiting, const struct tree *t,
                                       const struct section_tree_item *of, uint32_t number)
{
    size_t first = waiting->count;
    unsigned level = of->node == 0 ? 0 : of->level + 1;
    uint32_t bit = level < SECTION_TREE_LEVELS ? UINT32_C(1) << level : 0;
    uint32_t child = t->nodes.data[of->node].child;
    bool is_alone = child != 0 && t->nodes.data[child].next == 0;
    for (uint32_t n = child; n != 0; n = t->nodes.data[n].next) {
        uint32_t open = (of->open & ~bit) | (t->nodes.data[n].next != 0 ? bit : 0);
        if (!vec_push(waiting, ((struct section_tree_item){n, number, level, open, is_alone})))
            return false;
    }
    for (size_t i = first, j = waiting->count; j > i + 1; i++) {
        struct section_tree_item swap = waiting->data[i];
        waiting->data[i] = waiting->data[--j];
        waiting->data[j] = swap;
    }
    return true;
}

/* ------------------------------------------------------------------ on a page */

/* How many levels are told by how far they stand to the right. */
static unsigned section_tree_levels(const struct page *p)
{
    unsigned room =
        p->width > SECTION_TREE_ROOM ? (unsigned)(p->width - SECTION_TREE_ROOM) / SECTION_TREE_INDENT : 0;
    return room < 4 ? 4 : room < SECTION_TREE_LEVELS ? room : SECTION_TREE_LEVELS;
}

static size_t section_tree_indent(struct page *p, const struct section_tree_item *item)
{
    struct strbuf text;
    unsigned levels = section_tree_levels(p);
    strbuf_init(&text);
    strbuf_add_text(&text, "  ");
    for (unsigned i = 0; i < item->level && i < levels; i++)
        strbuf_add_text(&text, (item->open >> i & 1) != 0 ? "| " : "  ");
    if (item->level > levels)
        strbuf_addf(&text, "%u ", item->level);
    size_t used = text.length;
    page_add(p, COLOUR_QUIET, strbuf_get(&text));
    strbuf_release(&text);
    return used;
}

/* An only child that has all of its parent. */
static uint32_t section_tree_only_child(const void *of, uint32_t node)
{
    const struct tree *t = of;
    const struct tree_node *parent = &t->nodes.data[node], *child = &t->nodes.data[parent->child];
    bool is_only = parent->child != 0 && child->next == 0 && child->rest == 0;
    return is_only && child->all.bytes == parent->all.bytes && child->all.blocks == parent->all.blocks
               ? parent->child
               : 0;
}

static uint32_t section_tree_frame(const void *of, uint32_t node)
{
    const struct tree *t = of;
    return t->nodes.data[node].frame;
}

/* note: what stands behind it, if there is room. */
static void section_tree_line(struct page *p, const struct section_tree *s,
                              const struct section_tree_item *item, const char *note)
{
    const struct tree_node *node = &s->tree->nodes.data[item->node];
    char numbers[128], a[UNITS_MAX], b[UNITS_MAX];
    const struct tree_node *top = &s->tree->nodes.data[0];
    bool by_blocks = measure_is_by_blocks(s->tree->measure);
    uint64_t whole = by_blocks ? top->all.blocks : top->all.bytes;
    double share = (double)(by_blocks ? node->all.blocks : node->all.bytes);
    share = whole == 0 ? 0 : 100.0 * share / (double)whole;
    size_t used = section_tree_indent(p, item);
    snprintf(numbers, sizeof numbers, "-> %.2f%% (%s, %sx)", share, units_bytes(a, node->all.bytes),
             units_count(b, node->all.blocks));
    page_add(p, COLOUR_PLAIN, numbers);
    used += strlen(numbers);
    if (p->width < used + strlen(note) + 12)
        note = "";
    used += strlen(note) + 2;
    size_t left = p->width > used + 10 ? p->width - used : 10;
    if (node->rest != 0) {
        char text[128];
        snprintf(text, sizeof text, " in %s place%s, all below the %g%% threshold",
                 units_count(a, node->rest), node->rest == 1 ? "" : "s", s->tree->threshold * 100);
        if (width_of(text) > left + 2)
            snprintf(text, sizeof text, " in %s place%s below %g%%", a, node->rest == 1 ? "" : "s",
                     s->tree->threshold * 100);
        page_add_short(p, COLOUR_QUIET, text, left + 2);
    } else if (node->frame == 0) {
        page_add(p, COLOUR_QUIET, ": (no stack)");
    } else {
        struct frame f = s->traces->frames.data[node->frame - 1];
        f.line = node->lines_differ ? 0 : f.line;
        page_add(p, COLOUR_PLAIN, ": ");
        frames_print(p, &f, left, item->level == 0);
    }
    page_add(p, COLOUR_QUIET, note);
    page_end_line(p);
}

/* The node, or the round that begins with it; the item is then its last. */
static void section_tree_print(struct page *p, const struct section_tree *s, struct section_tree_item *item)
{
    const struct rounds_way way = {s->tree, section_tree_only_child, section_tree_frame};
    char note[ROUNDS_NOTE_MAX];
    if (!item->is_alone) {
        section_tree_line(p, s, item, "");
        return;
    }
    struct rounds r = rounds_find(&way, item->node);
    for (unsigned i = 0; i < r.length; i++) {
        item->level += i == 0 ? 0 : 1;
        item->node = r.places[i];
        section_tree_line(p, s, item, i + 1 == r.length ? rounds_note(note, &r) : "");
    }
    item->node = r.last;
}

static void section_tree_title(struct page *p, const struct section_tree *s, const struct tree_value *total)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    struct strbuf line;
    strbuf_init(&line);
    strbuf_addf(&line, "%s: %s in %s block%s", measure_title(s->tree->measure), units_bytes(a, total->bytes),
                units_count(b, total->blocks), units_plural(total->blocks));
    size_t used = page_add_wrapped(p, COLOUR_TITLE, strbuf_get(&line), 0, SECTION_TREE_INDENT);
    strbuf_clear(&line);
    if (s->root == NULL) /* else most of it has nothing to do with that function */
        suppressed_note(&line, s->tree->measure, s->suppress);
    used = page_add_wrapped(p, COLOUR_PLAIN, strbuf_get(&line), used, SECTION_TREE_INDENT);
    page_add_wrapped(p, COLOUR_QUIET, s->tree->way == TREE_CALLERS ? ", callers below" : ", callees below",
                     used, SECTION_TREE_INDENT);
    page_end_line(p);
    strbuf_release(&line);
}

void section_tree_text(struct page *p, const struct section_tree *s)
{
    section_tree_list waiting = {0};
    if (s->tree->nodes.count == 0)
        return;
    const struct tree_value *total = &s->tree->nodes.data[0].all;
    if (unknown_print(p, s->tree->measure, s->unknown, total->blocks))
        return;
    section_tree_title(p, s, total);
    if (total->blocks == 0 && s->root != NULL) {
        struct strbuf name;
        strbuf_init(&name);
        safe_add_text(&name, s->root);
        page_add(p, COLOUR_PLAIN, "  None of their stacks has a function called ");
        page_add_short(p, COLOUR_PLAIN, strbuf_get(&name), p->width > 60 ? p->width - 47 : 10);
        page_add(p, COLOUR_PLAIN, ".");
        page_end_line(p);
        strbuf_release(&name);
    }
    struct section_tree_item top = {0};
    bool ok = section_tree_push_children(&waiting, s->tree, &top, 0), has_more = false;
    while (ok && waiting.count > 0) {
        struct section_tree_item item = waiting.data[--waiting.count];
        if (item.level == 0 && has_more) /* a root, behind one with something below it */
            page_end_line(p);
        section_tree_print(p, s, &item);
        has_more = item.level != 0 || s->tree->nodes.data[item.node].child != 0;
        ok = section_tree_push_children(&waiting, s->tree, &item, 0);
    }
    p->out->failed |= !ok;
    vec_release(&waiting);
}

/* ---------------------------------------------------------------------- JSON */

static void section_tree_json_node(struct json *j, const struct section_tree *s,
                                   const struct section_tree_item *item)
{
    const struct tree_node *node = &s->tree->nodes.data[item->node];
    json_open_object(j, NULL);
    if (item->parent == 0)
        json_add_null(j, "parent");
    else
        json_add_number(j, "parent", item->parent - 1);
    json_add_number(j, "bytes", node->all.bytes);
    json_add_number(j, "blocks", node->all.blocks);
    json_add_number(j, "self_bytes", node->self.bytes);
    json_add_number(j, "self_blocks", node->self.blocks);
    json_add_number(j, "places", node->rest);
    if (node->frame != 0) {
        struct frame f = s->traces->frames.data[node->frame - 1];
        f.line = node->lines_differ ? 0 : f.line;
        frames_json_members(j, &f);
    }
    json_close_object(j);
}

void section_tree_json(struct json *j, const struct section_tree *s)
{
    section_tree_list waiting = {0};
    static const struct tree_value none;
    const struct tree_value *total = s->tree->nodes.count == 0 ? &none : &s->tree->nodes.data[0].all;
    const char *way = s->tree->way == TREE_CALLERS ? "callers" : "callees";
    json_open_object(j, measure_name(s->tree->measure));
    json_add_text(j, "way", way, strlen(way));
    json_add_number(j, "total_bytes", total->bytes);
    json_add_number(j, "total_blocks", total->blocks);
    json_add_real(j, "threshold_percent", s->tree->threshold * 100);
    json_open_array(j, "nodes");
    struct section_tree_item top = {0};
    bool ok = s->tree->nodes.count == 0 || section_tree_push_children(&waiting, s->tree, &top, 0);
    for (uint32_t number = 1; ok && waiting.count > 0; number++) {
        struct section_tree_item item = waiting.data[--waiting.count];
        section_tree_json_node(j, s, &item);
        ok = section_tree_push_children(&waiting, s->tree, &item, number);
    }
    json_close_array(j);
    if (s->root == NULL)
        suppressed_json(j, s->tree->measure, s->suppress);
    json_close_object(j);
    j->out->failed |= !ok;
    vec_release(&waiting);
}

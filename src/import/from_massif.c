/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * from_massif: snapshots of Valgrind's massif, or of those who write its format.
 *
 *     desc: ...
 *     cmd: ./app
 *     time_unit: i                 instructions; ms; B: bytes allocated and freed
 *     #-----------
 *     snapshot=3
 *     #-----------
 *     time=154291
 *     mem_heap_B=7960
 *     mem_heap_extra_B=3184
 *     mem_stacks_B=0
 *     heap_tree=detailed           or peak; or empty: nothing follows
 *     n1: 7960 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 *      n1: 7960 0x1093B9: leak_small (blame.c:64)
 *       n0: 7960 0x1090D7: main (blame.c:128)
 *
 * A node has so many children, its callers.  What they do not account for
 * was allocated by the stack that ends there.
 *
 * Snapshots are levels, not events.  From one to the next each stack gets
 * a block for what it has more, and loses its latest for what it has less; what
 * goes goes first, so nothing between two snapshots is higher than both.  Where a
 * snapshot has no tree, stacks keep what they had, or their share of it if there
 * is less in all; the rest goes to a frame that says so.
 */
#include "import/import.h"

#include <stdlib.h>
#include <string.h>

#include "import/linescan.h"
#include "import/valgrind_frame.h"
#include "tool/map.h"
#include "tool/memory.h"
#include "tool/vec.h"
#include "wire/record.h"

enum { MASSIF_DEPTH = 1 << 16 };

/* A block that a stack holds; those of one stack are a chain, the latest first. */
struct massif_block {
    uint64_t number, size;
    uint32_t before; /* + 1; 0 = none */
};

struct massif_level {
    uint32_t stack;
    uint32_t latest; /* block, + 1 */
    uint64_t now, next;
};

/* A node whose children are being read. */
struct massif_node {
    uint64_t left;    /* bytes that no child has accounted for yet */
    uint64_t awaited; /* children to come */
};

struct massif_file {
    struct import_job *job;
    struct feed *feed;
    uint64_t unit_ns;
    bool has_head, has_stacks, has_unit;
    struct map index; /* stack -> level */
    VEC(struct massif_level) levels;
    VEC(struct massif_block) blocks;
    uint32_t spare; /* unused block, + 1 */
    VEC(struct massif_node) nodes;
    VEC(struct wake_frame) path; /* frames of the nodes, but for the root: the innermost first */
    struct recast_text command;
    char *command_text;
    uint64_t snapshots, trees;
    bool failed; /* no memory */
};

/* ----------------------------------------------------------------------- levels */

static struct massif_level *massif_level(struct massif_file *m, uint32_t stack)
{
    const uint64_t *known = map_find(&m->index, stack);
    if (known != NULL)
        return &m->levels.data[*known];
    if (!map_set(&m->index, stack, m->levels.count) ||
        !vec_push(&m->levels, ((struct massif_level){.stack = stack}))) {
        m->failed = true;
        return NULL;
    }
    return &m->levels.data[m->levels.count - 1];
}

/* What no tree breaks down. */
static struct massif_level *massif_rest(struct massif_file *m)
{
    static const char text[] = "(not broken down by massif)";
    const struct recast_name name = {{text, sizeof text - 1}, {"", 0}, 0};
    struct wake_frame frame = recast_frame(m->job->recast, 0, 1, &name, 1);
    return massif_level(m, recast_stack(m->job->recast, &frame, 1));
}

static void massif_push(struct massif_file *m, struct massif_level *l, uint64_t size)
{
    struct massif_block block = {recast_alloc(m->job->recast, KIND_MALLOC, l->stack, 0, size, 0), size,
                                 l->latest};
    if (m->spare != 0) {
        l->latest = m->spare;
        m->spare = m->blocks.data[l->latest - 1].before;
        m->blocks.data[l->latest - 1] = block;
    } else if (m->blocks.count < UINT32_MAX && vec_push(&m->blocks, block)) {
        l->latest = (uint32_t)m->blocks.count;
    } else {
        m->failed = true;
        return;
    }
    l->now += size;
}

static void massif_pop(struct massif_file *m, struct massif_level *l)
{
    uint32_t at = l->latest;
    struct massif_block *b = &m->blocks.data[at - 1];
    recast_free(m->job->recast, HOW_FREE, b->number);
    l->now -= b->size;
    l->latest = b->before;
    b->before = m->spare;
    m->spare = at;
}

/* All levels become what they are to be next. */
static void massif_settle(struct massif_file *m)
{
    for (size_t i = 0; i < m->levels.count; i++) {
        struct massif_level *l = &m->levels.data[i];
        while (l->now > l->next && l->latest != 0)
            massif_pop(m, l);
    }
    for (size_t i = 0; i < m->levels.count && !m->failed; i++) {
        struct massif_level *l = &m->levels.data[i];
        if (l->now < l->next)
            massif_push(m, l, l->next - l->now);
    }
}

/* A snapshot without a tree. */
static void massif_share(struct massif_file *m, uint64_t total)
{
    struct massif_level *rest = massif_rest(m);
    uint64_t known = 0, shared = 0;
    if (rest == NULL)
        return;
    for (size_t i = 0; i < m->levels.count; i++)
        known += &m->levels.data[i] == rest ? 0 : m->levels.data[i].now;
    for (size_t i = 0; i < m->levels.count; i++) {
        struct massif_level *l = &m->levels.data[i];
        if (l == rest)
            continue;
        l->next = l->now;
        if (total < known)
            l->next = (uint64_t)((double)l->now * ((double)total / (double)known));
        if (l->next > total - shared)
            l->next = total - shared;
        shared += l->next;
    }
    rest->next = total - shared;
}

/* ------------------------------------------------------------------------- tree */

/* Bytes that were allocated by the stack in m->path. */
static void massif_account(struct massif_file *m, uint64_t bytes)
{
    if (bytes == 0)
        return;
    struct massif_level *l = m->path.count == 0
                                 ? massif_rest(m)
                                 : massif_level(m, recast_stack(m->job->recast, m->path.data, m->path.count));
    if (l != NULL)
        l->next += bytes;
}

/* Closes the nodes all of whose children have come. */
static void massif_close_nodes(struct massif_file *m)
{
    while (m->nodes.count > 0 && m->nodes.data[m->nodes.count - 1].awaited == 0) {
        massif_account(m, m->nodes.data[m->nodes.count - 1].left);
        m->nodes.count--;
        if (m->path.count > 0)
            m->path.count--;
        if (m->nodes.count > 0)
            m->nodes.data[m->nodes.count - 1].awaited--;
    }
}

/* A line of a tree: " n2: 12000 0x1093B9: leak_small (blame.c:64)". */
static int massif_node(struct massif_file *m, const char *line, size_t length, uint64_t total,
                       struct err *err)
{
    struct linescan s;
    linescan_init(&s, line, length);
    linescan_skip_spaces(&s);
    size_t depth = (size_t)(s.at - line);
    linescan_expect(&s, "n");
    struct massif_node node = {.awaited = linescan_decimal(&s)};
    linescan_expect(&s, ": ");
    node.left = linescan_decimal(&s);
    linescan_expect(&s, " ");
    if (s.bad || depth != m->nodes.count || depth > MASSIF_DEPTH)
        return feed_refuse(m->feed, err, "this is no line of a tree, or it is in the wrong place.");
    if (depth == 0 && node.left > total)
        return feed_refuse(m->feed, err, "the tree has more bytes than the heap.");
    if (depth > 0) {
        struct massif_node *parent = &m->nodes.data[depth - 1];
        if (node.left > parent->left)
            return feed_refuse(m->feed, err, "the callers have more bytes than what they called.");
        parent->left -= node.left;
        if (!vec_push(&m->path, valgrind_frame(m->job->recast, s.at, linescan_left(&s))))
            m->failed = true;
    }
    if (!vec_push(&m->nodes, node))
        m->failed = true;
    massif_close_nodes(m);
    return 0;
}

/* The tree of a snapshot of `total` bytes. */
static int massif_tree(struct massif_file *m, uint64_t total, struct err *err)
{
    const char *line;
    size_t length;
    int code = 0;
    m->nodes.count = 0;
    m->path.count = 0;
    for (size_t i = 0; i < m->levels.count; i++)
        m->levels.data[i].next = 0;
    do {
        if (!feed_line(m->feed, &line, &length))
            return feed_refuse(m->feed, err, "the file ends inside a tree.");
        code = massif_node(m, line, length, total, err);
    } while (code == 0 && m->nodes.count > 0 && !m->failed);
    if (code != 0 || m->failed)
        return code;
    uint64_t sum = 0;
    for (size_t i = 0; i < m->levels.count; i++)
        sum += m->levels.data[i].next;
    struct massif_level *rest = sum < total ? massif_rest(m) : NULL;
    if (rest != NULL)
        rest->next += total - sum;
    m->trees++;
    return 0;
}

/* -------------------------------------------------------------------- snapshots */

static int massif_field(struct massif_file *m, const char *key, uint64_t *value, struct err *err)
{
    const char *line;
    size_t length;
    struct linescan s;
    if (!feed_line(m->feed, &line, &length))
        return feed_refuse(m->feed, err, "the file ends inside a snapshot.");
    linescan_init(&s, line, length);
    linescan_expect(&s, key);
    linescan_expect(&s, "=");
    *value = linescan_decimal(&s);
    if (linescan_skip(&s, ".")) /* a fraction of a second, as heaptrack writes */
        (void)linescan_decimal(&s);
    return linescan_is_done(&s) ? 0 : feed_refuse(m->feed, err, "%s= and a number should stand here.", key);
}

/* What follows "snapshot=N". */
static int massif_snapshot(struct massif_file *m, struct err *err)
{
    const char *line;
    size_t length;
    struct linescan s;
    uint64_t time, heap, extra, stacks;
    if (!feed_line(m->feed, &line, &length) || length == 0 || line[0] != '#')
        return feed_refuse(m->feed, err, "#----------- should stand here.");
    int code = massif_field(m, "time", &time, err);
    if (code == 0)
        code = massif_field(m, "mem_heap_B", &heap, err);
    if (code == 0)
        code = massif_field(m, "mem_heap_extra_B", &extra, err);
    if (code == 0)
        code = massif_field(m, "mem_stacks_B", &stacks, err);
    if (code != 0)
        return code;
    if (!feed_line(m->feed, &line, &length))
        return feed_refuse(m->feed, err, "the file ends inside a snapshot.");
    linescan_init(&s, line, length);
    linescan_expect(&s, "heap_tree=");
    bool has_tree = linescan_skip(&s, "detailed") || linescan_skip(&s, "peak");
    if (s.bad || (!has_tree && !linescan_skip(&s, "empty")))
        return feed_refuse(m->feed, err, "heap_tree=empty, detailed or peak should stand here.");
    if (time > UINT64_MAX / 2 / m->unit_ns || heap > UINT64_C(1) << 60)
        return feed_refuse(m->feed, err, "no program runs so long or is so large.");
    recast_begin(m->job->recast, 0, "", 0, m->command.bytes, m->command.length);
    recast_clock(m->job->recast, time * m->unit_ns);
    m->has_stacks |= stacks > 0;
    m->snapshots++;
    if (has_tree)
        code = massif_tree(m, heap, err);
    else
        massif_share(m, heap);
    if (code == 0)
        massif_settle(m);
    return code;
}

static int massif_head(struct massif_file *m, struct linescan *s, struct err *err)
{
    if (linescan_skip(s, "cmd: ") && m->command_text == NULL) {
        m->command_text = memory_copy_part(s->at, linescan_left(s));
        m->command =
            (struct recast_text){m->command_text, m->command_text == NULL ? 0 : strlen(m->command_text)};
        m->failed |= m->command_text == NULL;
    } else if (linescan_skip(s, "time_unit: ")) {
        m->has_unit = true;
        m->unit_ns = linescan_skip(s, "ms") ? 1000000 : linescan_skip(s, "s") ? 1000000000 : 1;
        if (m->unit_ns == 1 && !linescan_skip(s, "i") && !linescan_skip(s, "B"))
            return feed_refuse(m->feed, err, "this unit of time is not known.");
        if (m->unit_ns == 1)
            recast_note(m->job->recast,
                        "Times are not of a clock: an instruction (or byte, with --time-unit=B) is "
                        "taken as a nanosecond.");
    }
    return 0;
}

static int massif_line(struct massif_file *m, const char *line, size_t length, struct err *err)
{
    struct linescan s;
    linescan_init(&s, line, length);
    int code = 0;
    if (linescan_skip(&s, "snapshot="))
        code = m->has_unit ? massif_snapshot(m, err)
                           : feed_refuse(m->feed, err, "there is no time_unit before it.");
    else if (length == 0 || line[0] == '#')
        return 0;
    else if (linescan_skip(&s, "desc:") || m->snapshots > 0)
        code = m->snapshots == 0 ? 0 : feed_refuse(m->feed, err, "a snapshot should begin here.");
    else
        code = massif_head(m, &s, err);
    if (code == 0 && m->failed)
        code = err_no_memory(err);
    return code == 0 ? recast_check(m->job->recast, err) : code;
}

bool from_massif_is_one(const char *head, size_t length)
{
    struct linescan s;
    linescan_init(&s, head, length);
    return linescan_skip(&s, "desc: ") || linescan_skip(&s, "desc:\n");
}

int from_massif(struct import_job *job, struct err *err)
{
    struct massif_file m = {.job = job, .feed = job->feed, .unit_ns = 1, .command = {"", 0}};
    const char *line;
    size_t length;
    int code = 0;
    map_init(&m.index);
    while (code == 0 && feed_line(job->feed, &line, &length))
        code = massif_line(&m, line, length, err);
    if (code == 0)
        code = feed_check(job->feed, err);
    if (code == 0) {
        recast_make_up(job->recast);
        recast_note(
            job->recast,
            "Massif tells what was live at its snapshots (%llu, %llu of them by stack) and nothing of "
            "single blocks: a block here is a difference between two snapshots.",
            (unsigned long long)m.snapshots, (unsigned long long)m.trees);
        recast_note(job->recast, "The allocator's own overhead (mem_heap_extra_B)%s is left out.",
                    m.has_stacks ? " and the stacks of threads (mem_stacks_B)" : "");
    }
    free(m.command_text);
    map_release(&m.index);
    vec_release(&m.levels);
    vec_release(&m.blocks);
    vec_release(&m.nodes);
    vec_release(&m.path);
    return code;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * from_heaptrack: files of heaptrack, as its interpreter writes them and as the
 * preloaded library does (raw).  Lines, a letter and fields; numbers are
 * hexadecimal:
 *
 *     both          v version format    X command    I page-size pages    A (attached)
 *                   c ms                R pages      S suppression        # comment
 *     interpreted   s length text       texts, from 1
 *                   i address module [function file line]...    instructions, from 1, what is inlined first
 *                   t instruction parent    stacks as a tree, from 1
 *                   a size stack        a class of allocations, from 0
 *                   + class             - class
 *     raw           x length path       the program
 *                   m length path bias (address length)...      a loaded file; "m 1 -": none is loaded
 *                   t address parent    the address is a return address - 1
 *                   + size stack pointer    - pointer
 *
 * A raw file has an x before anything else.  In an interpreted one a release
 * names a class: it is taken as that of the latest block of its class, so
 * that what heaptrack calls temporary stays so.
 */
#include "import/import.h"

#include <stdlib.h>
#include <string.h>

#include "import/addressed.h"
#include "import/linescan.h"
#include "import/loaded.h"
#include "tool/arena.h"
#include "tool/memory.h"
#include "tool/vec.h"
#include "wire/record.h"

enum {
    HEAPTRACK_VERSION = 3, /* newest format that is known */
    HEAPTRACK_TRIPLES = 256,
};

struct heaptrack_trace {
    struct wake_frame frame;
    uint32_t parent;
    uint32_t stack; /* + 1; 0 = nobody has asked */
};

struct heaptrack_class {
    uint64_t size;
    uint32_t stack;
    uint32_t latest; /* live block, in `blocks`, + 1; 0 = none */
};

/* A live block of a class; those of one class are a chain, the latest first. */
struct heaptrack_block {
    uint64_t number;
    uint32_t before; /* + 1 */
};

struct heaptrack_file {
    struct feed *feed;
    struct recast *recast;
    unsigned version;
    bool has_version, is_raw;
    uint64_t page, strays;
    struct arena texts;
    struct recast_text exe, command;
    VEC(struct recast_text) strings;
    VEC(struct wake_frame) instructions;
    VEC(struct heaptrack_trace) traces;
    VEC(struct heaptrack_class) classes;
    VEC(struct heaptrack_block) blocks;
    uint32_t spare; /* unused block, + 1 */
    VEC(struct wake_frame) path;
    struct loaded loaded;
    struct addressed addressed;
    struct recast_name names[HEAPTRACK_TRIPLES];
    bool failed; /* no memory */
};

static void heaptrack_begin(struct heaptrack_file *h)
{
    recast_begin(h->recast, 0, h->exe.bytes, h->exe.length, h->command.bytes, h->command.length);
}

static struct recast_text heaptrack_keep(struct heaptrack_file *h, const char *bytes, size_t length)
{
    struct recast_text text = {arena_push_text(&h->texts, bytes, length), length};
    if (text.bytes == NULL) {
        h->failed = true;
        text.length = 0;
    }
    return text;
}

/* A text with its length before it, or, before format 3, the rest of the line. */
static struct recast_text heaptrack_text(struct heaptrack_file *h, struct linescan *s)
{
    uint64_t length = linescan_left(s);
    if (h->version >= 3) {
        length = linescan_hex(s);
        linescan_expect(s, " ");
    }
    const char *bytes = linescan_bytes(s, length);
    return bytes == NULL ? (struct recast_text){"", 0} : (struct recast_text){bytes, length};
}

/* ----------------------------------------------------------------- head, clock */

static void heaptrack_take_version(struct heaptrack_file *h, struct linescan *s)
{
    (void)linescan_hex(s);
    h->version = 1; /* where nothing follows */
    if (linescan_skip(s, " "))
        h->version = (unsigned)linescan_hex(s);
    h->has_version = true;
}

/* Sentences about the whole, once it is known what it is. */
static void heaptrack_tell(struct heaptrack_file *h)
{
    if (h->is_raw) {
        recast_note(h->recast, "Stacks have 64 frames at most.");
        recast_note(h->recast, "Times are to 10 ms; there are no threads, kinds of calls or usable sizes.");
    } else {
        recast_note(h->recast,
                    "Which block a release is of is not told, only its size and stack: lifetimes are "
                    "known by class only.");
        recast_note(h->recast,
                    "Times are to 10 ms; there are no threads, addresses, kinds of calls or usable sizes.");
    }
}

/* -------------------------------------------------------------- code and stacks */

static void heaptrack_take_string(struct heaptrack_file *h, struct linescan *s)
{
    struct recast_text text = heaptrack_text(h, s);
    if (!s->bad && !vec_push(&h->strings, heaptrack_keep(h, text.bytes, text.length)))
        h->failed = true;
}

static struct recast_text heaptrack_string(struct heaptrack_file *h, struct linescan *s)
{
    uint64_t number = linescan_hex(s);
    if (number > h->strings.count)
        s->bad = true;
    return s->bad || number == 0 ? (struct recast_text){"", 0} : h->strings.data[number - 1];
}

static void heaptrack_take_instruction(struct heaptrack_file *h, struct linescan *s)
{
    size_t count = 0;
    uint64_t address = linescan_hex(s);
    linescan_expect(s, " ");
    struct recast_text module = heaptrack_string(h, s);
    while (linescan_left(s) > 0 && count < HEAPTRACK_TRIPLES) {
        struct recast_name *n = &h->names[count++];
        *n = (struct recast_name){{"", 0}, {"", 0}, 0};
        linescan_expect(s, " ");
        n->function = heaptrack_string(h, s);
        if (count == 1 && linescan_is_done(s)) /* a function without a file */
            break;
        linescan_expect(s, " ");
        n->file = heaptrack_string(h, s);
        linescan_expect(s, " ");
        n->line = (uint32_t)linescan_hex(s);
    }
    if (!linescan_is_done(s)) {
        s->bad = true;
        return;
    }
    heaptrack_begin(h);
    uint32_t number = module.length == 0 ? 0 : recast_module_at(h->recast, module.bytes, module.length);
    if (!vec_push(&h->instructions,
                  recast_frame(h->recast, number, address + (address != 0), h->names, count)))
        h->failed = true;
}

static void heaptrack_take_module(struct heaptrack_file *h, struct linescan *s)
{
    struct recast_text path = heaptrack_text(h, s);
    heaptrack_begin(h);
    if (path.length == 1 && path.bytes[0] == '-') {
        loaded_clear(&h->loaded);
        return;
    }
    if (path.length == 1 && path.bytes[0] == 'x')
        path = h->exe;
    linescan_expect(s, " ");
    uint64_t bias = linescan_hex(s), first = UINT64_MAX, last = 0;
    struct linescan ranges = *s;
    while (linescan_skip(s, " ")) {
        uint64_t start = bias + linescan_hex(s);
        linescan_expect(s, " ");
        uint64_t end = start + linescan_hex(s);
        first = start < first ? start : first;
        last = end > last ? end : last;
    }
    if (!linescan_is_done(s) || path.length == 0 || last == 0)
        return; /* an object without a file or code */
    uint32_t module = recast_module(
        h->recast,
        &(struct wake_module_info){
            .start = first, .end = last, .bias = bias, .path = path.bytes, .path_length = path.length});
    while (linescan_skip(&ranges, " ")) {
        uint64_t start = bias + linescan_hex(&ranges);
        linescan_expect(&ranges, " ");
        uint64_t end = start + linescan_hex(&ranges);
        if (!loaded_add(&h->loaded, start, end, module))
            h->failed = true;
    }
}

static void heaptrack_take_trace(struct heaptrack_file *h, struct linescan *s)
{
    struct heaptrack_trace trace = {0};
    uint64_t what = linescan_hex(s);
    linescan_expect(s, " ");
    uint64_t parent = linescan_hex(s);
    if (parent > h->traces.count || (!h->is_raw && what > h->instructions.count))
        s->bad = true;
    if (s->bad)
        return;
    if (h->is_raw)
        trace.frame = (struct wake_frame){what + 1, loaded_find(&h->loaded, what)};
    else if (what != 0)
        trace.frame = h->instructions.data[what - 1];
    trace.parent = (uint32_t)parent;
    if (!vec_push(&h->traces, trace))
        h->failed = true;
}

/* The stack that ends in a trace; s is bad where there is none. */
static uint32_t heaptrack_stack(struct heaptrack_file *h, struct linescan *s)
{
    uint64_t number = linescan_hex(s);
    if (number > h->traces.count)
        s->bad = true;
    if (s->bad || number == 0)
        return 0;
    struct heaptrack_trace *trace = &h->traces.data[number - 1];
    if (trace->stack != 0)
        return trace->stack - 1;
    h->path.count = 0;
    /* A parent stands before its children, so this ends. */
    for (uint64_t at = number; at != 0; at = h->traces.data[at - 1].parent) {
        if (!vec_push(&h->path, h->traces.data[at - 1].frame))
            h->failed = true;
    }
    uint32_t stack = recast_stack(h->recast, h->path.data, h->path.count);
    trace->stack = stack + 1;
    return stack;
}

/* -------------------------------------------------------------------- events */

static void heaptrack_take_class(struct heaptrack_file *h, struct linescan *s)
{
    struct heaptrack_class class = {.size = linescan_hex(s)};
    linescan_expect(s, " ");
    class.stack = heaptrack_stack(h, s);
    if (!s->bad && !vec_push(&h->classes, class))
        h->failed = true;
}

static struct heaptrack_class *heaptrack_class(struct heaptrack_file *h, struct linescan *s)
{
    uint64_t number = linescan_hex(s);
    if (number >= h->classes.count)
        s->bad = true;
    return s->bad ? NULL : &h->classes.data[number];
}

static void heaptrack_take_alloc(struct heaptrack_file *h, struct linescan *s)
{
    heaptrack_begin(h);
    if (h->is_raw) {
        uint64_t size = linescan_hex(s);
        linescan_expect(s, " ");
        uint32_t stack = heaptrack_stack(h, s);
        linescan_expect(s, " ");
        uint64_t address = linescan_hex(s);
        if (!s->bad)
            addressed_alloc(&h->addressed, KIND_MALLOC, stack, address, size, 0);
        return;
    }
    struct heaptrack_class *class = heaptrack_class(h, s);
    if (class == NULL)
        return;
    struct heaptrack_block block = {recast_alloc(h->recast, KIND_MALLOC, class->stack, 0, class->size, 0),
                                    class->latest};
    if (h->spare != 0) {
        class->latest = h->spare;
        h->spare = h->blocks.data[class->latest - 1].before;
        h->blocks.data[class->latest - 1] = block;
    } else if (h->blocks.count < UINT32_MAX && vec_push(&h->blocks, block)) {
        class->latest = (uint32_t)h->blocks.count;
    } else {
        h->failed = true;
    }
}

static void heaptrack_take_free(struct heaptrack_file *h, struct linescan *s)
{
    heaptrack_begin(h);
    if (h->is_raw) {
        uint64_t address = linescan_hex(s);
        if (!s->bad)
            (void)addressed_free(&h->addressed, HOW_FREE, address);
        return;
    }
    struct heaptrack_class *class = heaptrack_class(h, s);
    if (class == NULL)
        return;
    if (class->latest == 0) {
        h->strays++;
        return;
    }
    struct heaptrack_block *block = &h->blocks.data[class->latest - 1];
    uint32_t freed = class->latest;
    recast_free(h->recast, HOW_FREE, block->number);
    class->latest = block->before;
    block->before = h->spare;
    h->spare = freed;
}

/* -------------------------------------------------------------------- lines */

static void heaptrack_take_head(struct heaptrack_file *h, char letter, struct linescan *s)
{
    if (letter == 'X') {
        h->command = heaptrack_keep(h, s->at, linescan_left(s));
    } else if (letter == 'x') {
        struct recast_text path = heaptrack_text(h, s);
        if (h->is_raw || recast_has_begun(h->recast) || h->strings.count > 0)
            s->bad = true;
        h->is_raw = true;
        h->exe = heaptrack_keep(h, path.bytes, path.length);
    } else if (letter == 'I') {
        h->page = linescan_hex(s);
    } else if (letter == 'A') {
        recast_note(h->recast,
                    "Heaptrack was attached to the running program: what was allocated before is not known.");
    }
}

static void heaptrack_take_time(struct heaptrack_file *h, char letter, struct linescan *s)
{
    uint64_t value = linescan_hex(s);
    heaptrack_begin(h);
    if (value > UINT64_MAX >> 24) /* ms that are no time, pages that are no memory */
        s->bad = true;
    else if (letter == 'c')
        recast_clock(h->recast, value * 1000000);
    else
        recast_rss(h->recast, value * (h->page == 0 ? 4096 : h->page));
}

static int heaptrack_line(struct heaptrack_file *h, const char *line, size_t length, struct err *err)
{
    struct linescan s;
    char letter = line[0];
    linescan_init(&s, line + (length < 2 ? length : 2), length < 2 ? 0 : length - 2);
    if (!h->has_version && letter != 'v' && letter != '#')
        return feed_refuse(h->feed, err, "heaptrack's version should stand here.");
    if (strchr("sia", letter) != NULL && h->is_raw)
        return feed_refuse(h->feed, err, "a raw file has no '%c' lines.", letter);
    if (letter == 'm' && !h->is_raw)
        return feed_refuse(h->feed, err, "there is no program ('x' line) before its modules.");
    switch (letter) {
    case 'v':
        heaptrack_take_version(h, &s);
        if (!s.bad && (h->version == 0 || h->version > HEAPTRACK_VERSION))
            return feed_refuse(h->feed, err, "format %u of heaptrack is not known, only 1 to %d.", h->version,
                               HEAPTRACK_VERSION);
        break;
    case 's':
        heaptrack_take_string(h, &s);
        break;
    case 'i':
        heaptrack_take_instruction(h, &s);
        break;
    case 'm':
        heaptrack_take_module(h, &s);
        break;
    case 't':
        heaptrack_take_trace(h, &s);
        break;
    case 'a':
        heaptrack_take_class(h, &s);
        break;
    case '+':
        heaptrack_take_alloc(h, &s);
        break;
    case '-':
        heaptrack_take_free(h, &s);
        break;
    case 'c':
    case 'R':
        heaptrack_take_time(h, letter, &s);
        break;
    case 'x':
    case 'X':
    case 'I':
    case 'A':
        heaptrack_take_head(h, letter, &s);
        break;
    case 'S':
    case '#':
        break;
    default:
        return feed_refuse(h->feed, err, "heaptrack has no such line.");
    }
    if (s.bad)
        return feed_refuse(h->feed, err, "this '%c' line makes no sense.", letter);
    return h->failed || h->addressed.failed ? err_no_memory(err) : 0;
}

bool from_heaptrack_is_one(const char *head, size_t length)
{
    struct linescan s;
    linescan_init(&s, head, length);
    linescan_expect(&s, "v ");
    (void)linescan_hex(&s);
    return !s.bad && (linescan_left(&s) == 0 || *s.at == ' ' || *s.at == '\n');
}

int from_heaptrack(struct import_job *job, struct err *err)
{
    struct heaptrack_file *h = memory_new_zeroed(1, sizeof *h);
    const char *line;
    size_t length;
    int code = 0;
    if (h == NULL)
        return err_no_memory(err);
    h->feed = job->feed;
    h->recast = job->recast;
    h->exe = h->command = (struct recast_text){"", 0};
    arena_init(&h->texts);
    addressed_init(&h->addressed, job->recast);
    while (code == 0 && feed_line(job->feed, &line, &length)) {
        if (length > 0)
            code = heaptrack_line(h, line, length, err);
        if (code == 0)
            code = recast_check(job->recast, err);
    }
    if (code == 0) {
        heaptrack_begin(h);
        heaptrack_tell(h);
        if (h->strays > 0)
            recast_note(h->recast, "%llu releases were of blocks that the file does not know.",
                        (unsigned long long)h->strays);
    }
    job->is_nameless = h->is_raw;
    vec_release(&h->strings);
    vec_release(&h->instructions);
    vec_release(&h->traces);
    vec_release(&h->classes);
    vec_release(&h->blocks);
    vec_release(&h->path);
    loaded_release(&h->loaded);
    addressed_release(&h->addressed);
    arena_release(&h->texts);
    free(h);
    return code;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * heaptrack: the file of heaptrack, format 3, as its interpreter writes it and
 * heaptrack_print and heaptrack_gui read it.  Lines; numbers are hexadecimal:
 *
 *     v 10400 3                   versions of program and format
 *     X command line
 *     I page-size pages
 *     s length text               texts, numbered from 1
 *     i address module [function file line]...    instructions, from 1, what is inlined first
 *     t instruction parent        stacks as a tree, from 1
 *     a size stack                a class of allocations, numbered from 0
 *     + class     - class         an allocation, a release
 *     c ms        R pages         the time, the resident set
 *
 * A text, instruction, stack or class is written just before it is first
 * needed, so the events stream.  Memory goes by stacks and classes.
 *
 * A release names the class of its block, not the block: whoever reads the file
 * back knows sums, peak and leaks exactly, and lifetimes only for each class.
 */
#include "export/export.h"

#include <string.h>

#include "base/digits.h"
#include "engine/follow.h"
#include "export/caption.h"
#include "export/subject.h"
#include "tool/map.h"
#include "tool/vec.h"

enum { HEAPTRACK_PAGE = 4096 };

/* The class that a stack had last: most have one only. */
struct heaptrack_latest {
    uint64_t size;
    uint32_t class; /* + 1; 0 = none yet */
    uint32_t trace; /* + 1; 0 = not yet known */
};

struct heaptrack {
    const struct export_job *job;
    struct out *out;
    struct err *err;
    struct subject subject;
    struct map strings; /* text of the traces -> number */
    struct map ips;     /* instruction that it is inlined into << 32 | frame -> instruction */
    struct map traces;  /* trace -> number */
    struct map classes; /* stack << 32 | size, or number of a large size -> class */
    struct map large;   /* size -> number */
    uint32_t string_count, ip_count, trace_count, class_count;
    VEC(uint32_t) instructions;          /* by number in ips: what the file calls it; 0 = not written */
    VEC(struct heaptrack_latest) latest; /* by stack */
    VEC(uint32_t) path, group;           /* scratch: traces, frames */
    uint32_t no_stack;                   /* number of the trace for it; 0 = not written */
    uint64_t now_ms;
    size_t sample;
};

static int heaptrack_no_memory(struct heaptrack *h)
{
    return err_no_memory(h->err);
}

/* ------------------------------------------------------------ names, stacks */

static int heaptrack_string(struct heaptrack *h, const char *text, uint32_t *number)
{
    *number = 0;
    if (text[0] == '\0')
        return 0;
    const uint64_t *known = map_find(&h->strings, (uint64_t)(uintptr_t)text);
    if (known != NULL) {
        *number = (uint32_t)*known;
        return 0;
    }
    struct strbuf safe;
    strbuf_init(&safe);
    caption_add_text(&safe, text);
    out_f(h->out, "s %zx %s\n", safe.length, strbuf_get(&safe));
    bool fine = !safe.failed && map_set(&h->strings, (uint64_t)(uintptr_t)text, ++h->string_count);
    strbuf_release(&safe);
    *number = h->string_count;
    return fine ? 0 : heaptrack_no_memory(h);
}

/* An instruction: h->group holds its frames, the innermost first. */
static int heaptrack_write_ip(struct heaptrack *h, uint32_t *number)
{
    const struct frame *frames = h->job->traces->frames.data;
    const struct frame *outer = &frames[h->group.data[h->group.count - 1]];
    uint32_t module, function, file;
    int code = heaptrack_string(h, outer->module, &module);
    for (size_t i = 0; i < h->group.count && code == 0; i++) {
        code = heaptrack_string(h, frames[h->group.data[i]].function, &function);
        if (code == 0)
            code = heaptrack_string(h, frames[h->group.data[i]].file, &file);
    }
    if (code != 0)
        return code;
    /* Heaptrack has the address of the call, one before where it returns to. */
    out_f(h->out, "i %llx %x", (unsigned long long)(outer->address - (outer->address != 0)), module);
    for (size_t i = 0; i < h->group.count && code == 0; i++) {
        const struct frame *f = &frames[h->group.data[i]];
        (void)heaptrack_string(h, f->function, &function);
        (void)heaptrack_string(h, f->file, &file);
        if (function == 0 && file == 0 && h->group.count == 1)
            break;
        out_f(h->out, " %x %x %x", function, file, f->line);
    }
    out_text(h->out, "\n");
    *number = ++h->ip_count;
    return 0;
}

/* The instruction of the frames in h->group, written where it is new. */
static int heaptrack_find_ip(struct heaptrack *h, uint32_t *number)
{
    uint64_t node = 0;
    for (size_t i = h->group.count; i-- > 0;) {
        uint64_t key = node << 32 | h->group.data[i];
        const uint64_t *known = map_find(&h->ips, key);
        if (known != NULL) {
            node = *known;
            continue;
        }
        node = h->instructions.count + 1;
        if (!map_set(&h->ips, key, node) || !vec_push(&h->instructions, 0))
            return heaptrack_no_memory(h);
    }
    uint32_t *written = &h->instructions.data[node - 1];
    int code = *written == 0 ? heaptrack_write_ip(h, written) : 0;
    *number = *written;
    return code;
}

/* Fills h->group with the frame of a trace and those it is inlined into; gives the caller's trace. */
static int heaptrack_take_group(struct heaptrack *h, uint32_t trace, uint32_t *caller)
{
    const struct traces *c = h->job->traces;
    h->group.count = 0;
    bool inlined = true;
    while (trace != 0 && inlined) {
        if (!vec_push(&h->group, c->traces.data[trace].frame))
            return heaptrack_no_memory(h);
        inlined = traces_frame(c, trace)->inlined;
        trace = traces_parent(c, trace);
    }
    *caller = trace;
    return 0;
}

static int heaptrack_write_trace(struct heaptrack *h, uint32_t trace, uint32_t *number)
{
    uint32_t caller, ip = 0, parent = 0;
    int code = heaptrack_take_group(h, trace, &caller);
    if (code == 0)
        code = heaptrack_find_ip(h, &ip);
    if (code != 0)
        return code;
    if (caller != 0)
        parent = (uint32_t)*map_find(&h->traces, caller);
    out_f(h->out, "t %x %x\n", ip, parent);
    *number = ++h->trace_count;
    return map_set(&h->traces, trace, *number) ? 0 : heaptrack_no_memory(h);
}

/* The number of a trace; it and its callers are written where they are new. */
static int heaptrack_find_trace(struct heaptrack *h, uint32_t trace, uint32_t *number)
{
    int code = 0;
    const uint64_t *known = NULL;
    h->path.count = 0;
    while (trace != 0 && (known = map_find(&h->traces, trace)) == NULL && code == 0) {
        if (!vec_push(&h->path, trace))
            return heaptrack_no_memory(h);
        code = heaptrack_take_group(h, trace, &trace);
    }
    *number = known == NULL ? 0 : (uint32_t)*known;
    for (size_t i = h->path.count; i-- > 0 && code == 0;)
        code = heaptrack_write_trace(h, h->path.data[i], number);
    return code;
}

static int heaptrack_find_no_stack(struct heaptrack *h, uint32_t *number)
{
    if (h->no_stack == 0) {
        out_f(h->out, "s %zx " CAPTION_NO_STACK "\ni 0 0 %x 0 0\nt %x 0\n", strlen(CAPTION_NO_STACK),
              h->string_count + 1, h->ip_count + 1);
        h->string_count++;
        h->ip_count++;
        h->no_stack = ++h->trace_count;
    }
    *number = h->no_stack;
    return 0;
}

/* ------------------------------------------------------------------- classes */

/* Sizes of 2^31 and more go by a number. */
static int heaptrack_size_key(struct heaptrack *h, uint64_t size, uint64_t *key)
{
    const uint64_t large = UINT64_C(1) << 31;
    *key = size;
    if (size < large)
        return 0;
    const uint64_t *known = map_find(&h->large, size);
    *key = known != NULL ? *known : large + map_count(&h->large);
    return known != NULL || map_set(&h->large, size, *key) ? 0 : heaptrack_no_memory(h);
}

static int heaptrack_write_class(struct heaptrack *h, struct heaptrack_latest *l, uint32_t stack,
                                 uint64_t size, uint64_t key)
{
    int code = 0;
    if (l->trace == 0) {
        uint32_t trace = 0, number = 0;
        code = traces_find(h->job->traces, h->subject.index, stack, &trace, h->err);
        if (code == 0)
            code = trace == 0 ? heaptrack_find_no_stack(h, &number) : heaptrack_find_trace(h, trace, &number);
        l->trace = number + 1;
    }
    if (code != 0)
        return code;
    out_f(h->out, "a %llx %x\n", (unsigned long long)size, l->trace - 1);
    return map_set(&h->classes, key, h->class_count++) ? 0 : heaptrack_no_memory(h);
}

/* Another class than the latest of its stack. */
static int heaptrack_turn(struct heaptrack *h, struct heaptrack_latest *l, uint32_t stack, uint64_t size)
{
    uint64_t key;
    int code = heaptrack_size_key(h, size, &key);
    if (code != 0)
        return code;
    key |= (uint64_t)stack << 32;
    const uint64_t *known = map_find(&h->classes, key);
    uint32_t class = known != NULL ? (uint32_t)*known : h->class_count;
    if (known == NULL)
        code = heaptrack_write_class(h, l, stack, size, key);
    l->size = size;
    l->class = class + 1;
    return code;
}

/* -------------------------------------------------------------------- events */

static void heaptrack_clock(struct heaptrack *h, uint64_t time_ns)
{
    uint64_t ms = time_ns > h->subject.from_ns ? (time_ns - h->subject.from_ns) / 1000000 : 0;
    if (ms > h->now_ms) {
        h->now_ms = ms;
        out_f(h->out, "c %llx\n", (unsigned long long)ms);
    }
}

/* The time goes on; samples of the resident set that lie before it are told. */
static void heaptrack_advance(struct heaptrack *h, uint64_t time_ns)
{
    const struct wake_process *p = h->subject.process;
    while (h->sample < p->samples.count && p->samples.data[h->sample].time_ns <= time_ns) {
        const struct wake_sample *s = &p->samples.data[h->sample++];
        if (s->time_ns < h->subject.from_ns)
            continue;
        heaptrack_clock(h, s->time_ns);
        out_f(h->out, "R %llx\n", (unsigned long long)(s->rss_bytes / HEAPTRACK_PAGE));
    }
    heaptrack_clock(h, time_ns);
}

static int heaptrack_event(struct heaptrack *h, char sign, uint32_t class)
{
    char *to = strbuf_reserve(&h->out->buffer, DIGITS_MAX + 3);
    if (to != NULL) {
        to[0] = sign;
        to[1] = ' ';
        char *end = digits_put_hex(to + 2, class);
        *end++ = '\n';
        strbuf_grown(&h->out->buffer, (size_t)(end - to));
    }
    out_settle(h->out);
    return h->out->error == 0 ? 0 : OUT_STOP;
}

static int heaptrack_alloc(void *context, struct follow_block *b, bool is_earlier)
{
    struct heaptrack *h = context;
    struct heaptrack_latest *l = &h->latest.data[b->stack];
    (void)is_earlier;
    heaptrack_advance(h, b->born_ns);
    if (l->class == 0 || l->size != b->bytes) { /* a sample is one call for all bytes that it stands for */
        int code = heaptrack_turn(h, l, b->stack, b->bytes);
        if (code != 0)
            return code;
    }
    b->tag = l->class - 1;
    return heaptrack_event(h, '+', b->tag);
}

static int heaptrack_release(void *context, const struct follow_block *b, const struct follow_end *end)
{
    struct heaptrack *h = context;
    heaptrack_advance(h, end->time_ns);
    return heaptrack_event(h, '-', b->tag);
}

/* ---------------------------------------------------------------------- file */

static void heaptrack_write_head(struct heaptrack *h)
{
    struct strbuf command;
    strbuf_init(&command);
    caption_add_command(&command, h->job->veil, h->subject.process);
    out_f(h->out, "v 10400 3\nX %s\nI %x 0\n", strbuf_get(&command), HEAPTRACK_PAGE);
    strbuf_release(&command);
}

static bool heaptrack_init(struct heaptrack *h)
{
    size_t stacks = h->subject.process->stacks.count + 1;
    map_init(&h->strings);
    map_init(&h->ips);
    map_init(&h->traces);
    map_init(&h->classes);
    map_init(&h->large);
    if (!vec_reserve(&h->latest, stacks))
        return false;
    memset(h->latest.data, 0, stacks * sizeof *h->latest.data);
    return true;
}

static void heaptrack_free(struct heaptrack *h)
{
    map_release(&h->strings);
    map_release(&h->ips);
    map_release(&h->traces);
    map_release(&h->classes);
    map_release(&h->large);
    vec_release(&h->instructions);
    vec_release(&h->latest);
    vec_release(&h->path);
    vec_release(&h->group);
}

int export_heaptrack(const struct export_job *job, struct err *err)
{
    static const struct follow_calls calls = {NULL, heaptrack_alloc, heaptrack_release, NULL};
    struct heaptrack h = {.job = job, .out = job->out, .err = err};
    subject_init(&h.subject, job);
    int code = heaptrack_init(&h) ? 0 : heaptrack_no_memory(&h);
    if (code == 0) {
        heaptrack_write_head(&h);
        code = follow_run(job->query, job->reader, h.subject.index, WAKE_SIZE | WAKE_STACK, &calls, &h, err);
    }
    if (code == 0) {
        heaptrack_advance(&h, h.subject.to_ns);
        out_f(h.out, "c %llx\n", (unsigned long long)h.now_ms);
    }
    heaptrack_free(&h);
    return code == OUT_STOP ? 0 : code;
}

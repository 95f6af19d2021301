/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * csv: a row for each block, with its birth and its death, after a header row
 * (RFC 4180).
 *
 * Blocks stand in the order in which they were freed, then those that were left at
 * the end of the window, in the order of their births; process by
 * process.  What is not known, or did not happen, is empty.
 */
#include "export/export.h"

#include <string.h>

#include "base/digits.h"
#include "engine/follow.h"
#include "export/caption.h"
#include "present/labels.h"
#include "store/reader.h"
#include "tool/arena.h"
#include "tool/vec.h"
#include "wire/record.h"

/* Room for the columns on one side of the thread's name: numbers and labels. */
enum { CSV_PART = 16 * (DIGITS_MAX + 1) };

struct csv {
    const struct export_job *job;
    struct out *out;
    struct err *err;
    uint32_t index; /* of the process */
    const struct wake_process *process;
    struct arena arena;
    VEC(const char *) places; /* by stack: its last two columns, ready to write; NULL = not yet made */
    VEC(const char *) names;  /* by thread, as the process lists them: its name, ready to write; the same */
    const struct wake_thread *thread; /* asked for last */
    uint32_t thread_number;
    struct strbuf text;
};

static int csv_no_memory(struct csv *c)
{
    return err_no_memory(c->err);
}

/* --------------------------------------------------------------------- fields */

static void csv_quote(struct strbuf *to, const char *text)
{
    if (text[strcspn(text, ",\"\r\n")] == '\0') {
        strbuf_add_text(to, text);
        return;
    }
    strbuf_add_char(to, '"');
    for (; *text != '\0'; text++) {
        if (*text == '"')
            strbuf_add_char(to, '"');
        strbuf_add_char(to, *text);
    }
    strbuf_add_char(to, '"');
}

static char *csv_put(char *to, uint64_t number)
{
    to = digits_put(to, number);
    *to++ = ',';
    return to;
}

static char *csv_put_word(char *to, const char *word)
{
    to = stpcpy(to, word);
    *to++ = ',';
    return to;
}

static const struct wake_thread *csv_thread(struct csv *c, uint32_t number)
{
    if (number != c->thread_number) {
        c->thread = wake_process_find_thread(c->process, number);
        c->thread_number = number;
    }
    return c->thread;
}

static char *csv_put_tid(struct csv *c, char *to, uint32_t number)
{
    const struct wake_thread *t = csv_thread(c, number);
    if (t != NULL)
        to = digits_put(to, t->tid);
    *to++ = ',';
    return to;
}

/* The name of a thread as a column; NULL: no memory. */
static const char *csv_name(struct csv *c, uint32_t number)
{
    const struct wake_thread *t = csv_thread(c, number);
    if (t == NULL)
        return "";
    const char **known = &c->names.data[t - c->process->threads.data];
    if (*known != NULL)
        return *known;
    const char *name = anonymize_text(c->job->veil, ANONYMIZE_THREAD, t->name);
    struct strbuf safe;
    strbuf_init(&safe);
    caption_add_text(&safe, name == NULL ? "" : name);
    strbuf_clear(&c->text);
    csv_quote(&c->text, strbuf_get(&safe));
    bool fine = name != NULL && !safe.failed && !c->text.failed;
    *known = fine ? arena_push_text(&c->arena, strbuf_get(&c->text), c->text.length) : NULL;
    strbuf_release(&safe);
    return *known;
}

/* Function and source of the frame where the program's own code begins. */
static int csv_make_place(struct csv *c, uint32_t stack)
{
    uint32_t trace;
    struct strbuf function, source;
    int code = traces_find(c->job->traces, c->index, stack, &trace, c->err);
    if (code != 0)
        return code;
    strbuf_init(&function);
    strbuf_init(&source);
    if (trace != 0) {
        const struct frame *f = traces_frame(c->job->traces, traces_find_own(c->job->traces, trace));
        caption_add(&function, f);
        caption_add_text(&source, f->file);
        if (f->file[0] != '\0' && f->line != 0)
            strbuf_addf(&source, ":%u", f->line);
    }
    strbuf_clear(&c->text);
    csv_quote(&c->text, strbuf_get(&function));
    strbuf_add_char(&c->text, ',');
    csv_quote(&c->text, strbuf_get(&source));
    strbuf_add_char(&c->text, '\n');
    bool fine = !function.failed && !source.failed && !c->text.failed;
    const char *place = fine ? arena_push_text(&c->arena, c->text.text, c->text.length) : NULL;
    c->places.data[stack] = place;
    strbuf_release(&function);
    strbuf_release(&source);
    return place != NULL ? 0 : csv_no_memory(c);
}

/* ----------------------------------------------------------------------- rows */

/* The columns before the name of the thread. */
static char *csv_put_life(struct csv *c, char *to, const struct follow_block *b, const struct follow_end *end)
{
    to = csv_put(to, c->process->info.pid);
    to = csv_put(to, b->number);
    to = csv_put(to, b->born_ns);
    if (end != NULL) {
        to = csv_put(to, end->time_ns);
        to = csv_put(to, end->time_ns - b->born_ns);
    } else {
        to = csv_put_word(to, ",");
    }
    to = csv_put(to, b->size);
    to = csv_put(to, b->usable);
    to = digits_put_hex(stpcpy(to, "0x"), b->address);
    *to++ = ',';
    to = csv_put_word(to, labels_kind(b->kind));
    to = csv_put_word(to, end != NULL ? labels_detail(WAKE_FREE, end->how) : "");
    return csv_put_tid(c, to, b->thread);
}

/* Those behind it, up to the place. */
static char *csv_put_rest(struct csv *c, char *to, const struct follow_block *b, const struct follow_end *end)
{
    *to++ = ',';
    to = end != NULL ? csv_put_tid(c, to, end->thread) : csv_put_word(to, "");
    if (b->kind == KIND_REALLOC && b->previous != 0)
        to = digits_put(to, b->previous - 1);
    *to++ = ',';
    to = csv_put_word(to, b->is_leaked ? "1" : "0");
    to = csv_put(to, b->stack);
    to = csv_put(to, b->blocks);
    return csv_put(to, b->bytes);
}

/* Rows are as many as allocations: their numbers are written without printf. */
static int csv_row(struct csv *c, const struct follow_block *b, const struct follow_end *end)
{
    char part[CSV_PART];
    int code = c->places.data[b->stack] == NULL ? csv_make_place(c, b->stack) : 0;
    const char *name = code == 0 ? csv_name(c, b->thread) : NULL;
    if (name == NULL)
        return code != 0 ? code : csv_no_memory(c);
    const char *to = csv_put_life(c, part, b, end);
    strbuf_add(&c->out->buffer, part, (size_t)(to - part));
    strbuf_add_text(&c->out->buffer, name);
    to = csv_put_rest(c, part, b, end);
    strbuf_add(&c->out->buffer, part, (size_t)(to - part));
    out_text(c->out, c->places.data[b->stack]);
    return c->out->error == 0 ? 0 : OUT_STOP;
}

static int csv_begin(void *context, uint32_t process)
{
    struct csv *c = context;
    c->index = process;
    c->process = wake_reader_process(c->job->reader, process);
    c->thread = NULL;
    c->thread_number = 0;
    size_t stacks = c->process->stacks.count + 1, threads = c->process->threads.count;
    if (!vec_reserve(&c->places, stacks) || !vec_reserve(&c->names, threads))
        return csv_no_memory(c);
    for (size_t i = 0; i < stacks; i++)
        c->places.data[i] = NULL;
    for (size_t i = 0; i < threads; i++)
        c->names.data[i] = NULL;
    return 0;
}

static int csv_alloc(void *context, struct follow_block *b, bool is_earlier)
{
    (void)context, (void)b, (void)is_earlier; /* it is told when it ends */
    return 0;
}

static int csv_release(void *context, const struct follow_block *b, const struct follow_end *end)
{
    return csv_row(context, b, end);
}

static int csv_left(void *context, const struct follow_block *b)
{
    return csv_row(context, b, NULL);
}

int export_csv(const struct export_job *job, struct err *err)
{
    static const struct follow_calls calls = {csv_begin, csv_alloc, csv_release, csv_left};
    struct csv c = {.job = job, .out = job->out, .err = err};
    arena_init(&c.arena);
    strbuf_init(&c.text);
    out_text(c.out, "pid,number,allocated_ns,freed_ns,lifetime_ns,size,usable,address,kind,freed_how,tid,"
                    "thread,freed_tid,previous,leaked,stack,blocks,bytes,function,source\n");
    int code = follow_run(job->query, job->reader, FOLLOW_ALL, WAKE_EVERYTHING, &calls, &c, err);
    arena_release(&c.arena);
    vec_release(&c.places);
    vec_release(&c.names);
    strbuf_release(&c.text);
    return code == OUT_STOP ? 0 : code;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * from_memtraq: logs of memtraq.  That of 0.6 is in memtraq_records.c; up to 0.5 it
 * is text, a line an event:
 *
 *     timestamp;thread-name;thread-id;event;param1;param2;param3;result;callstack
 *     1392.. ;app;1084;start;VERSION;ENABLED;RESOLVE
 *     1392.. ;app;1084;malloc;SIZE;void;PTR;frame;frame...
 *     1392.. ;app;1084;free;PTR;void;void[;frame...]
 *     1392.. ;app;1084;realloc;OLD;SIZE;NEW;frame...
 *     1392.. ;app;1084;tag;NAME;SERIAL;void;frame...
 *
 * Times are microseconds.  A frame is what backtrace_symbols(3) makes of it, or
 * the bare address; the innermost comes first:
 *
 *     /usr/lib/libx.so(parse+0x1d) [0x7f12a0001234]    ./app(+0x11b0) [0x5555000011b0]    0x5555000011b0
 */
#include "import/import.h"

#include <stdlib.h>
#include <string.h>

#include "import/linescan.h"
#include "import/memtraq_log.h"
#include "wire/record.h"

enum { MEMTRAQ_HEAD_MAX = 64 }; /* bytes that tell records from text */

static uint64_t memtraq_number(struct linescan *s)
{
    if (linescan_skip(s, "(nil)"))
        return 0;
    return linescan_skip(s, "0x") ? linescan_hex(s) : linescan_decimal(s);
}

/* The next field as a number. */
static uint64_t memtraq_field(struct linescan *s)
{
    uint64_t value = memtraq_number(s);
    if (linescan_left(s) > 0)
        linescan_expect(s, ";");
    return value;
}

static bool memtraq_field_is(const char *field, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(field, word, length) == 0;
}

/* ------------------------------------------------------------------------ frames */

/* path(function+0x1d) [0x7f12a0001234]; without brackets it is the address alone. */
static struct wake_frame memtraq_frame(struct memtraq_log *m, const char *text, size_t length)
{
    struct recast *r = m->job->recast;
    struct linescan s, offset;
    struct recast_name name = {{"", 0}, {"", 0}, 0};
    const char *bracket = memrchr(text, '[', length), *open = memchr(text, '(', length);
    linescan_init(&s, bracket == NULL ? text : bracket + 1,
                  bracket == NULL ? length : length - (size_t)(bracket + 1 - text));
    uint64_t address = memtraq_number(&s), bias = 0;
    uint32_t module = 0;
    size_t path = open != NULL ? (size_t)(open - text) : bracket != NULL ? (size_t)(bracket - text) : 0;
    while (path > 0 && text[path - 1] == ' ')
        path--;
    if (open != NULL && (bracket == NULL || open < bracket)) {
        const char *plus = memchr(open, '+', length - (size_t)(open - text));
        const char *close = memchr(open, ')', length - (size_t)(open - text));
        const char *end = plus != NULL ? plus : close;
        if (end != NULL)
            name.function = (struct recast_text){open + 1, (size_t)(end - open - 1)};
        linescan_init(&offset, plus == NULL ? text : plus + 1,
                      plus == NULL ? 0 : length - (size_t)(plus + 1 - text));
        uint64_t distance = plus == NULL ? 0 : memtraq_number(&offset);
        if (name.function.length == 0 && !offset.bad && plus != NULL)
            bias = address - distance; /* the offset counts from where the file was loaded */
    }
    if (path > 0)
        module =
            recast_module(r, &(struct wake_module_info){.bias = bias, .path = text, .path_length = path});
    return recast_frame(r, module, address, &name, name.function.length > 0);
}

static uint32_t memtraq_stack(struct memtraq_log *m, struct linescan *s)
{
    m->frames.count = 0;
    while (linescan_left(s) > 0) {
        size_t length;
        const char *text = linescan_until(s, ';', &length);
        if (length > 0 && !vec_push(&m->frames, memtraq_frame(m, text, length)))
            m->failed = true;
    }
    return recast_stack(m->job->recast, m->frames.data, m->frames.count);
}

/* ------------------------------------------------------------------------ events */

void memtraq_log_begin_event(struct memtraq_log *m, uint64_t us, uint64_t thread, const char *name,
                             size_t length)
{
    struct recast *r = m->job->recast;
    const uint64_t *known = map_find(&m->threads, thread);
    if (!m->has_first)
        m->first_us = us;
    m->has_first = true;
    us = us > m->first_us ? us - m->first_us : 0;
    recast_clock(r, us < UINT64_MAX / 2000 ? us * 1000 : 0);
    uint32_t number = known != NULL ? (uint32_t)*known
                                    : recast_thread(r, (uint32_t)map_count(&m->threads) + 1, name, length);
    if (known == NULL && !map_set(&m->threads, thread, number))
        m->failed = true;
    recast_use_thread(r, number);
}

void memtraq_log_realloc(struct memtraq_log *m, uint64_t old, uint64_t size, uint64_t address, uint32_t stack)
{
    if (address == 0 && size != 0)
        return;
    uint64_t previous = addressed_free(&m->addressed, HOW_REALLOC, old);
    addressed_alloc(&m->addressed, KIND_REALLOC, stack, address, size, previous);
}

void memtraq_log_free(struct memtraq_log *m, uint64_t address, uint32_t stack)
{
    if (address == 0)
        return;
    recast_from(m->job->recast, stack);
    (void)addressed_free(&m->addressed, HOW_FREE, address);
}

static void memtraq_void(struct linescan *s)
{
    size_t length;
    const char *text = linescan_until(s, ';', &length);
    if (!memtraq_field_is(text, length, "void"))
        s->bad = true;
}

/* False: there is no such event. */
static bool memtraq_event(struct memtraq_log *m, struct linescan *s, const char *event, size_t length)
{
    if (memtraq_field_is(event, length, "malloc")) {
        uint64_t size = memtraq_field(s);
        memtraq_void(s);
        uint64_t address = memtraq_field(s);
        uint32_t stack = s->bad ? 0 : memtraq_stack(m, s);
        if (!s->bad)
            addressed_alloc(&m->addressed, KIND_MALLOC, stack, address, size, 0);
    } else if (memtraq_field_is(event, length, "free")) {
        uint64_t address = memtraq_field(s);
        size_t ignored;
        for (int i = 0; i < 2 && linescan_left(s) > 0; i++)
            (void)linescan_until(s, ';', &ignored);
        uint32_t stack = s->bad ? 0 : memtraq_stack(m, s);
        if (!s->bad)
            memtraq_log_free(m, address, stack);
    } else if (memtraq_field_is(event, length, "realloc")) {
        uint64_t old = memtraq_field(s), size = memtraq_field(s), address = memtraq_field(s);
        uint32_t stack = s->bad ? 0 : memtraq_stack(m, s);
        if (!s->bad)
            memtraq_log_realloc(m, old, size, address, stack);
    } else if (memtraq_field_is(event, length, "tag")) {
        size_t name_length;
        const char *name = linescan_until(s, ';', &name_length);
        recast_mark(m->job->recast, name, name_length);
    } else {
        return memtraq_field_is(event, length, "start");
    }
    return true;
}

static int memtraq_line(struct memtraq_log *m, const char *line, size_t length, struct err *err)
{
    struct linescan s;
    size_t name_length, event_length;
    linescan_init(&s, line, length);
    if (length == 0 || linescan_skip(&s, "timestamp;"))
        return 0;
    uint64_t us = linescan_decimal(&s);
    linescan_expect(&s, ";");
    const char *name = linescan_until(&s, ';', &name_length);
    uint64_t id = memtraq_field(&s);
    const char *event = linescan_until(&s, ';', &event_length);
    if (s.bad)
        return feed_refuse(m->job->feed, err, "this is no line of memtraq.");
    memtraq_log_begin_event(m, us, id, name, name_length);
    if (!memtraq_event(m, &s, event, event_length))
        return feed_refuse(m->job->feed, err, "memtraq has no event '%.*s'.",
                           event_length < 40 ? (int)event_length : 40, event);
    if (s.bad)
        return feed_refuse(m->job->feed, err, "the event makes no sense.");
    if (m->failed || m->addressed.failed)
        return err_no_memory(err);
    return recast_check(m->job->recast, err);
}

bool from_memtraq_is_one(const char *head, size_t length)
{
    struct linescan s;
    size_t field;
    linescan_init(&s, head, length);
    if (linescan_skip(&s, "timestamp;") || memtraq_records_is_one(head, length))
        return true;
    (void)linescan_decimal(&s);
    linescan_expect(&s, ";");
    (void)linescan_until(&s, ';', &field);
    (void)memtraq_field(&s);
    return !s.bad &&
           (linescan_skip(&s, "start;") || linescan_skip(&s, "malloc;") || linescan_skip(&s, "free;") ||
            linescan_skip(&s, "realloc;") || linescan_skip(&s, "tag;"));
}

int from_memtraq(struct import_job *job, struct err *err)
{
    struct memtraq_log m = {.job = job};
    const char *line;
    size_t length;
    int code = 0;
    addressed_init(&m.addressed, job->recast);
    map_init(&m.threads);
    recast_begin(job->recast, 0, "", 0, "", 0);
    recast_note(
        job->recast,
        "memtraq tells no kinds of calls, usable sizes or process; threads are numbered as they come, and a "
        "free is told after it was made, when another thread may have the address already.");
    const char *head = feed_peek(job->feed, MEMTRAQ_HEAD_MAX, &length);
    if (memtraq_records_is_one(head, length))
        code = memtraq_records_read(&m, err);
    while (code == 0 && feed_line(job->feed, &line, &length))
        code = memtraq_line(&m, line, length, err);
    job->is_nameless = true;
    vec_release(&m.frames);
    map_release(&m.threads);
    addressed_release(&m.addressed);
    return code;
}

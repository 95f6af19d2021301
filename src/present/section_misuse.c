/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_misuse: see section_misuse.h.
 */
#include "present/section_misuse.h"

#include "present/callers.h"
#include "present/frames.h"
#include "present/safe.h"
#include "present/units.h"

#include <stdio.h>
#include <string.h>

enum { SECTION_MISUSE_INDENT = 4, SECTION_MISUSE_DEEPER = 6 };

static const char *section_misuse_title(enum misuse_kind kind)
{
    static const char *const titles[MISUSE_COUNT] = {
        "double free", "free inside of a block", "free of what was never seen to be allocated", "mismatch",
        "free in a forked child of what its parent made (no misuse)"};
    return titles[kind];
}

static unsigned section_misuse_tid(const struct section_misuse *s, uint32_t process, uint32_t thread)
{
    const struct wake_thread *t = wake_process_find_thread(wake_reader_process(s->reader, process), thread);
    return t == NULL ? 0 : t->tid;
}

/* A line of its own before it, which says whose stack it is. */
static int section_misuse_stack(struct page *p, const struct section_misuse *s, uint32_t process,
                                uint32_t stack, struct err *err)
{
    uint32_t trace = 0;
    int code = traces_find(s->traces, s->base + process, stack, &trace, err);
    if (code != 0)
        return code;
    page_addf(p, COLOUR_PLAIN, "%*s", SECTION_MISUSE_DEEPER, "");
    callers_print_lead(p, s->traces, trace, p->width - SECTION_MISUSE_DEEPER);
    page_end_line(p);
    callers_print_below(p, s->traces, trace, SECTION_MISUSE_DEEPER, CALLERS_SHOWN);
    return 0;
}

static int section_misuse_block(struct page *p, const struct section_misuse *s, const struct misuse_block *b,
                                struct err *err)
{
    char size[UNITS_MAX], time[UNITS_MAX];
    int code = 0;
    if (b->was_freed) {
        page_addf(p, COLOUR_PLAIN, "%*sfreed before by %s at %s, thread %u\n", SECTION_MISUSE_INDENT, "",
                  s->label(WAKE_FREE, b->freed_how), units_time(time, b->freed_ns),
                  section_misuse_tid(s, b->process, b->freed_thread));
        if (b->freed_stack != 0)
            code = section_misuse_stack(p, s, b->process, b->freed_stack, err);
    }
    page_addf(p, COLOUR_PLAIN, "%*s%s allocated by %s at %s, thread %u\n", SECTION_MISUSE_INDENT, "",
              units_bytes(size, b->size), s->label(WAKE_ALLOC, b->kind), units_time(time, b->born_ns),
              section_misuse_tid(s, b->process, b->thread));
    return code != 0 ? code : section_misuse_stack(p, s, b->process, b->stack, err);
}

static int section_misuse_one(struct page *p, const struct section_misuse *s, const struct misuse *m,
                              struct err *err)
{
    char count[UNITS_MAX], when[UNITS_MAX];
    const struct wake_process *process = wake_reader_process(s->reader, m->process);
    int code = 0;
    page_addf(p, COLOUR_PLAIN, "  %sx ", units_count(count, m->count));
    page_addf(p, m->kind == MISUSE_INHERITED ? COLOUR_QUIET : COLOUR_ALARM, "%s",
              section_misuse_title(m->kind));
    if (m->kind == MISUSE_MISMATCH)
        page_addf(p, COLOUR_ALARM, ": %s with %s", s->label(WAKE_ALLOC, m->block.kind),
                  s->label(WAKE_FREE, m->how));
    page_end_line(p);
    page_addf(p, COLOUR_PLAIN, "%*s0x%llx released by %s at %s, process %u, thread %u\n",
              SECTION_MISUSE_INDENT, "", (unsigned long long)m->address, s->label(WAKE_FREE, m->how),
              units_time(when, m->time_ns), process->info.pid, section_misuse_tid(s, m->process, m->thread));
    if (m->stack != 0)
        code = section_misuse_stack(p, s, m->process, m->stack, err);
    if (code != 0 || !m->block.is_known)
        return code;
    if (m->kind == MISUSE_INSIDE)
        page_addf(p, COLOUR_PLAIN, "%*s%llu bytes behind the beginning of a block\n", SECTION_MISUSE_INDENT,
                  "", (unsigned long long)(m->address - m->block.address));
    return section_misuse_block(p, s, &m->block, err);
}

static bool section_misuse_lacks_stacks(const struct misuses *m)
{
    for (size_t i = 0; i < m->list.count; i++) {
        const struct misuse *one = &m->list.data[i];
        if (one->kind == MISUSE_INHERITED)
            continue;
        if (one->stack == 0 || (one->block.was_freed && one->block.freed_stack == 0))
            return true;
    }
    return false;
}

/* "Stacks of releases are not recorded; to have them: heapwake record --free-stacks ./program" */
static void section_misuse_advise(struct page *p, const struct section_misuse *s)
{
    static const char ask[] = "heapwake record --free-stacks ";
    const struct wake_process_info *first = &wake_reader_process(s->reader, 0)->info;
    struct strbuf command;
    strbuf_init(&command);
    safe_add_command(&command, first->args, first->args_length);
    page_add(p, COLOUR_QUIET, "  Stacks of releases were not recorded. To have them:\n    ");
    page_add(p, COLOUR_PLAIN, ask);
    page_add_short(p, COLOUR_PLAIN, strbuf_get(&command), p->width - SECTION_MISUSE_INDENT - strlen(ask));
    page_end_line(p);
    strbuf_release(&command);
}

/* Whether blocks are not among the events, by somebody's wish. */
static bool section_misuse_has_gaps(const struct wake_reader *r)
{
    bool has = false;
    for (size_t i = 0; i < wake_reader_process_count(r); i++) {
        const struct wake_omissions *o = &wake_reader_process(r, i)->omitted;
        has = has || o->culled_blocks > 0 || o->is_limited || o->sample_rate != 0 ||
              o->elsewhere_allocations > 0;
    }
    return has;
}

int section_misuse_text(struct page *p, const struct section_misuse *s, struct err *err)
{
    uint64_t count = 0;
    char a[UNITS_MAX];
    int code = 0;
    for (size_t i = 0; i < s->misuses->list.count; i++)
        count += s->misuses->list.data[i].kind == MISUSE_INHERITED ? 0 : s->misuses->list.data[i].count;
    page_add(p, COLOUR_TITLE, "Misuse");
    if (count == 0)
        page_add(p, COLOUR_PLAIN, ": none seen\n");
    else
        page_addf(p, COLOUR_PLAIN, ": %s release%s that should not have been\n", units_count(a, count),
                  count == 1 ? "" : "s");
    for (size_t i = 0; i < s->misuses->list.count && code == 0; i++)
        code = section_misuse_one(p, s, &s->misuses->list.data[i], err);
    if (code == 0 && section_misuse_lacks_stacks(s->misuses))
        section_misuse_advise(p, s);
    if (section_misuse_has_gaps(s->reader))
        page_add(p, COLOUR_QUIET,
                 "  Not all blocks are among the events: what was done to the others is not told.\n");
    if (s->misuses->not_followed > 0)
        page_addf(p, COLOUR_QUIET, "  %s further addresses were not followed\n",
                  units_count(a, s->misuses->not_followed));
    return code;
}

static void section_misuse_json_text(struct json *j, const char *key, const char *text)
{
    json_add_text(j, key, text, strlen(text));
}

static void section_misuse_json_address(struct json *j, uint64_t address)
{
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
    section_misuse_json_text(j, "address", text);
}

static int section_misuse_json_stack(struct json *j, const char *key, const struct section_misuse *s,
                                     uint32_t process, uint32_t stack, struct err *err)
{
    uint32_t trace = 0;
    int code = traces_find(s->traces, s->base + process, stack, &trace, err);
    frames_json_trace(j, key, s->traces, trace);
    return code;
}

static int section_misuse_json_block(struct json *j, const struct section_misuse *s,
                                     const struct misuse_block *b, struct err *err)
{
    int code = 0;
    json_open_object(j, "block");
    section_misuse_json_address(j, b->address);
    json_add_number(j, "bytes", b->size);
    section_misuse_json_text(j, "allocated_by", s->label(WAKE_ALLOC, b->kind));
    json_add_number(j, "allocated_ns", b->born_ns);
    json_add_number(j, "allocated_tid", section_misuse_tid(s, b->process, b->thread));
    json_add_number(j, "allocated_pid", wake_reader_process(s->reader, b->process)->info.pid);
    if (b->was_freed) {
        section_misuse_json_text(j, "freed_by", s->label(WAKE_FREE, b->freed_how));
        json_add_number(j, "freed_ns", b->freed_ns);
        json_add_number(j, "freed_tid", section_misuse_tid(s, b->process, b->freed_thread));
        if (code == 0 && b->freed_stack != 0)
            code = section_misuse_json_stack(j, "freed_frames", s, b->process, b->freed_stack, err);
    }
    if (code == 0)
        code = section_misuse_json_stack(j, "frames", s, b->process, b->stack, err);
    json_close_object(j);
    return code;
}

int section_misuse_json(struct json *j, const struct section_misuse *s, struct err *err)
{
    int code = 0;
    json_open_array(j, "misuse");
    for (size_t i = 0; i < s->misuses->list.count && code == 0; i++) {
        const struct misuse *m = &s->misuses->list.data[i];
        json_open_object(j, NULL);
        section_misuse_json_text(j, "kind", misuse_name(m->kind));
        json_add_number(j, "count", m->count);
        section_misuse_json_address(j, m->address);
        section_misuse_json_text(j, "released_by", s->label(WAKE_FREE, m->how));
        json_add_number(j, "time_ns", m->time_ns);
        json_add_number(j, "pid", wake_reader_process(s->reader, m->process)->info.pid);
        json_add_number(j, "tid", section_misuse_tid(s, m->process, m->thread));
        if (m->stack != 0)
            code = section_misuse_json_stack(j, "frames", s, m->process, m->stack, err);
        if (code == 0 && m->block.is_known)
            code = section_misuse_json_block(j, s, &m->block, err);
        json_close_object(j);
    }
    json_close_array(j);
    return code;
}

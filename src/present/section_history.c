/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_history: see section_history.h.
 */
#include "present/section_history.h"

#include "present/callers.h"
#include "present/frames.h"
#include "present/units.h"

#include <stdio.h>
#include <string.h>

enum { SECTION_HISTORY_INDENT = 6 };

static unsigned section_history_tid(const struct section_history *s, const struct address_history *t)
{
    const struct wake_thread *thread =
        wake_process_find_thread(wake_reader_process(s->reader, t->process), t->thread);
    return thread == NULL ? 0 : thread->tid;
}

static bool section_history_has_stack(const struct address_history *t)
{
    return t->stack != 0 || t->event == WAKE_ALLOC || t->event == WAKE_MAP || t->event == WAKE_UNMAP;
}

static void section_history_what(struct page *p, const struct section_history *s,
                                 const struct address_history *t)
{
    char size[UNITS_MAX], lived[UNITS_MAX];
    const char *label = s->label(t->event, t->detail);
    page_addf(p, COLOUR_TITLE, "%s", label[0] == '-' ? s->event(t->event) : label);
    if (t->event == WAKE_FREE_UNKNOWN)
        page_add(p, COLOUR_ALARM, "  nothing known is there");
    else
        page_addf(p, COLOUR_PLAIN, "  %s", units_bytes(size, t->size));
    if (t->address != s->address)
        page_addf(p, COLOUR_PLAIN, " at 0x%llx", (unsigned long long)t->address);
    if (t->event == WAKE_FREE)
        page_addf(p, COLOUR_PLAIN, " that lived %s", units_time(lived, t->lived_ns));
    page_end_line(p);
}

int section_history_text(struct page *p, const struct section_history *s, struct err *err)
{
    char a[UNITS_MAX];
    int code = 0;
    page_addf(p, COLOUR_TITLE, "0x%llx", (unsigned long long)s->address);
    page_addf(p, COLOUR_PLAIN, ": %s event%s\n", units_count(a, s->touches->list.count),
              s->touches->list.count == 1 ? "" : "s");
    for (size_t i = 0; i < s->touches->list.count && code == 0; i++) {
        const struct address_history *t = &s->touches->list.data[i];
        uint32_t trace = 0;
        page_addf(p, COLOUR_PLAIN, "  %s  process %u thread %u  ", units_time(a, t->time_ns),
                  wake_reader_process(s->reader, t->process)->info.pid, section_history_tid(s, t));
        section_history_what(p, s, t);
        if (!section_history_has_stack(t))
            continue;
        code = traces_find(s->traces, t->process, t->stack, &trace, err);
        page_addf(p, COLOUR_PLAIN, "%*s", SECTION_HISTORY_INDENT, "");
        callers_print_lead(p, s->traces, trace, p->width - SECTION_HISTORY_INDENT);
        page_end_line(p);
        callers_print_below(p, s->traces, trace, SECTION_HISTORY_INDENT, CALLERS_SHOWN);
    }
    return code;
}

int section_history_json(struct json *j, const struct section_history *s, struct err *err)
{
    char address[24];
    int code = 0;
    json_open_array(j, "events");
    for (size_t i = 0; i < s->touches->list.count && code == 0; i++) {
        const struct address_history *t = &s->touches->list.data[i];
        const char *event = s->event(t->event), *label = s->label(t->event, t->detail);
        uint32_t trace = 0;
        snprintf(address, sizeof address, "0x%llx", (unsigned long long)t->address);
        json_open_object(j, NULL);
        json_add_number(j, "time_ns", t->time_ns);
        json_add_number(j, "pid", wake_reader_process(s->reader, t->process)->info.pid);
        json_add_number(j, "tid", section_history_tid(s, t));
        json_add_text(j, "event", event, strlen(event));
        json_add_text(j, "by", label, strlen(label));
        json_add_bool(j, "known", t->event != WAKE_FREE_UNKNOWN);
        json_add_text(j, "address", address, strlen(address));
        json_add_number(j, "bytes", t->size);
        if (t->event == WAKE_FREE)
            json_add_number(j, "lived_ns", t->lived_ns);
        if (section_history_has_stack(t)) {
            code = traces_find(s->traces, t->process, t->stack, &trace, err);
            frames_json_trace(j, "frames", s->traces, trace);
        }
        json_close_object(j);
    }
    json_close_array(j);
    return code;
}

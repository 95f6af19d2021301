/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_maps: see section_maps.h.
 */
#include "present/section_maps.h"

#include "analysis/stretches.h"
#include "present/callers.h"
#include "present/frames.h"
#include "present/safe.h"
#include "present/units.h"

#include <stdio.h>
#include <string.h>

enum {
    SECTION_MAPS_REMOVALS = 4, /* of a mapping that are shown on a page */
    SECTION_MAPS_OTHERS = 5,
    SECTION_MAPS_INDENT = 15, /* "    made       " */
    MAPS_TYPE_SHARED = 1,     /* the lowest bit of flags, as mmap has them */
    MAPS_ANONYMOUS = 0x20,
};

/* "rw-p"; text: of 5 bytes. */
static const char *section_maps_rights(char *text, unsigned rights, bool is_shared)
{
    text[0] = (rights & WAKE_READ) != 0 ? 'r' : '-';
    text[1] = (rights & WAKE_WRITE) != 0 ? 'w' : '-';
    text[2] = (rights & WAKE_EXECUTE) != 0 ? 'x' : '-';
    text[3] = is_shared ? 's' : 'p';
    text[4] = '\0';
    return text;
}

static const char *section_maps_made_rights(char *text, const struct mapping *m)
{
    return section_maps_rights(text, m->prot, (m->flags & MAPS_TYPE_SHARED) != 0);
}

static const char *section_maps_seen_rights(char *text, const struct mapping *m)
{
    return section_maps_rights(text, m->rights, (m->rights & WAKE_SHARED) != 0);
}

static unsigned section_maps_tid(const struct section_maps *s, uint32_t process, uint32_t number)
{
    const struct wake_thread *thread =
        wake_process_find_thread(s->traces->processes.data[process].process, number);
    return thread == NULL ? 0 : thread->tid;
}

static unsigned section_maps_pid(const struct section_maps *s, uint32_t process)
{
    return s->traces->processes.data[process].process->info.pid;
}

static size_t section_maps_shown(const struct section_maps *s)
{
    size_t count = s->maps->chosen.count;
    return s->limit == 0 || count < s->limit ? count : s->limit;
}

/* ----------------------------------------------------------------------- text */

static bool section_maps_have_several_processes(const struct maps *m)
{
    for (size_t i = 1; i < m->chosen.count; i++)
        if (m->list.data[m->chosen.data[i]].process != m->list.data[m->chosen.data[0]].process)
            return true;
    return false;
}

static void section_maps_head(struct page *p, const struct section_maps *s)
{
    const struct maps *m = s->maps;
    char a[UNITS_MAX], b[UNITS_MAX];
    page_add(p, COLOUR_TITLE, "Mappings");
    if (m->chosen.count == 0) {
        page_add(p, COLOUR_PLAIN, m->list.count == 0 ? ": none\n" : ": none that is like this\n");
        return;
    }
    struct strbuf line;
    strbuf_init(&line);
    strbuf_addf(&line, ": %s, at most %s at once%s; ", units_count(a, m->chosen.count),
                units_bytes(b, m->peak_bytes), section_maps_have_several_processes(m) ? " in a process" : "");
    strbuf_addf(&line, "%s left at the end with %s", units_count(a, m->left), units_bytes(b, m->left_bytes));
    page_add_wrapped(p, COLOUR_PLAIN, strbuf_get(&line), 8, 2);
    page_end_line(p);
    strbuf_release(&line);
    if (m->beyond != 0)
        page_addf(p, COLOUR_ALARM, "  %s more were too many to be followed.\n", units_count(a, m->beyond));
    page_add(p, COLOUR_QUIET, "        size    peak RSS  rights  address         number  name\n");
}

static void section_maps_first_line(struct page *p, const struct mapping *m)
{
    char size[UNITS_MAX], rss[UNITS_MAX], rights[5], line[4 * UNITS_MAX];
    bool is_seen = m->has_usage || m->is_blurred;
    struct strbuf name;
    strbuf_init(&name);
    if (m->name[0] != '\0')
        safe_add_text(&name, m->name);
    else
        strbuf_add_text(&name, m->how == MAPS_BRK                 ? "(break)"
                               : (m->flags & MAPS_ANONYMOUS) != 0 ? "(anonymous)"
                                                                  : "(file)");
    snprintf(line, sizeof line, "  %10s  %10s  %-6s  0x%-12llx  %6u  ", units_bytes(size, m->end - m->start),
             m->has_usage ? units_bytes(rss, m->peak_rss_bytes) : "-",
             is_seen ? section_maps_seen_rights(rights, m) : section_maps_made_rights(rights, m),
             (unsigned long long)m->start, m->number);
    page_add(p, COLOUR_TITLE, line);
    page_add_short(p, COLOUR_PLAIN, strbuf_get(&name), p->width > strlen(line) ? p->width - strlen(line) : 1);
    page_end_line(p);
    strbuf_release(&name);
}

/* The rest of a line: the site, then what it did and when. */
static int section_maps_site(struct page *p, const struct section_maps *s, const struct mapping *m,
                             uint32_t stack, const char *did, struct err *err)
{
    uint32_t trace;
    size_t tail = strlen(did), room = p->width - SECTION_MAPS_INDENT;
    int code = traces_find(s->traces, m->process, stack, &trace, err);
    if (code != 0)
        return code;
    (void)callers_print_lead(p, s->traces, trace, room > tail + 20 ? room - tail : 20);
    page_add(p, COLOUR_QUIET, did);
    page_end_line(p);
    if (s->in_depth)
        callers_print_below(p, s->traces, trace, SECTION_MAPS_INDENT, CALLERS_SHOWN);
    return 0;
}

static int section_maps_removals(struct page *p, const struct section_maps *s, const struct mapping *m,
                                 struct err *err)
{
    static const char *const leads[] = {"gone", "start cut", "end cut", "split"};
    char size[UNITS_MAX], time[UNITS_MAX], did[4 * UNITS_MAX];
    size_t shown =
        s->in_depth || m->removals.count < SECTION_MAPS_REMOVALS ? m->removals.count : SECTION_MAPS_REMOVALS;
    int code = 0;
    for (size_t i = 0; i < shown && code == 0; i++) {
        const struct maps_removal *r = &m->removals.data[i];
        page_addf(p, COLOUR_PLAIN, "    %-11s", leads[r->cut <= MAPS_MIDDLE ? r->cut : 0]);
        snprintf(did, sizeof did, "  %s%s, %s at %s", maps_cause_name(r->cause),
                 r->cause == MAPS_MMAP ? " over it" : "", units_bytes(size, r->end - r->start),
                 units_time(time, r->time_ns));
        code = section_maps_site(p, s, m, r->stack, did, err);
    }
    if (m->removals.count > shown)
        page_addf(p, COLOUR_QUIET, "    and %s more cuts\n", units_count(size, m->removals.count - shown));
    return code;
}

/* What there was of it when, and how much of it was in memory. */
static int section_maps_depth(struct page *p, const struct mapping *m, struct err *err)
{
    char size[UNITS_MAX], from[UNITS_MAX], to[UNITS_MAX];
    struct stretches s;
    stretches_init(&s);
    bool fine = stretches_set(&s, m);
    for (size_t i = 0; i < s.list.count && fine; i++) {
        const struct stretch *x = &s.list.data[i];
        page_addf(p, COLOUR_PLAIN, "    %-11s0x%-12llx  %10s  from %s %s%s\n", i == 0 ? "was" : "",
                  (unsigned long long)x->start, units_bytes(size, x->end - x->start),
                  units_time(from, x->from_ns), x->is_left ? "on" : "to ",
                  x->is_left ? "" : units_time(to, x->to_ns));
    }
    stretches_release(&s);
    for (size_t i = 0; i < m->usage.count; i++) {
        const struct maps_usage *u = &m->usage.data[i];
        page_addf(p, COLOUR_PLAIN, "    %-11s%10s  %10s swapped  from %s on\n", i == 0 ? "in memory" : "",
                  units_bytes(size, u->rss_bytes), units_bytes(to, u->swap_bytes),
                  units_time(from, u->time_ns));
    }
    return fine ? 0 : err_no_memory(err);
}

static int section_maps_one(struct page *p, const struct section_maps *s, const struct mapping *m,
                            struct err *err)
{
    char size[UNITS_MAX], time[UNITS_MAX], did[2 * UNITS_MAX];
    section_maps_first_line(p, m);
    page_addf(p, COLOUR_PLAIN, "    %-11s", "made");
    snprintf(did, sizeof did, "  %s at %s", maps_cause_name(m->how), units_time(time, m->made_ns));
    int code = section_maps_site(p, s, m, m->stack, did, err);
    if (code == 0)
        code = section_maps_removals(p, s, m, err);
    if (m->left_bytes != 0)
        page_addf(p, COLOUR_PLAIN, "    %-11s%s in %zu piece%s\n", "left", units_bytes(size, m->left_bytes),
                  m->pieces.count, m->pieces.count == 1 ? "" : "s");
    if (m->is_blurred && !m->has_usage)
        page_add(p, COLOUR_QUIET, "    its use could not be told from that of its neighbours\n");
    return code == 0 && s->in_depth ? section_maps_depth(p, m, err) : code;
}

/* What most of the memory is in that no call was seen for. */
static void section_maps_others(struct page *p, const struct section_maps *s)
{
    const struct maps_other *list = s->maps->others.data, *best[SECTION_MAPS_OTHERS] = {NULL};
    char rss[UNITS_MAX];
    for (size_t i = 0; i < s->maps->others.count; i++) {
        const struct maps_other *o = &list[i];
        for (size_t k = 0; k < SECTION_MAPS_OTHERS; k++) {
            if (best[k] == NULL || o->peak_rss_bytes > best[k]->peak_rss_bytes) {
                const struct maps_other *worse = best[k];
                best[k] = o;
                if (worse == NULL)
                    break;
                o = worse;
            }
        }
    }
    if (best[0] == NULL)
        return;
    page_add(p, COLOUR_TITLE, "Other memory");
    page_add_wrapped(p, COLOUR_PLAIN, ", of the loader, the kernel, malloc and heapwake, by its peak RSS", 12,
                     2);
    page_end_line(p);
    for (size_t k = 0; k < SECTION_MAPS_OTHERS && best[k] != NULL; k++) {
        struct strbuf name;
        strbuf_init(&name);
        safe_add_text(&name, best[k]->name[0] == '\0' ? "(anonymous)" : best[k]->name);
        page_addf(p, COLOUR_PLAIN, "  %10s  ", units_bytes(rss, best[k]->peak_rss_bytes));
        page_add_short(p, COLOUR_PLAIN, strbuf_get(&name), p->width - 14);
        page_end_line(p);
        strbuf_release(&name);
    }
}

int section_maps_text(struct page *p, const struct section_maps *s, struct err *err)
{
    size_t shown = section_maps_shown(s);
    char count[UNITS_MAX];
    int code = 0;
    section_maps_head(p, s);
    for (size_t i = 0; i < shown && code == 0; i++)
        code = section_maps_one(p, s, &s->maps->list.data[s->maps->chosen.data[i]], err);
    if (shown < s->maps->chosen.count)
        page_addf(p, COLOUR_QUIET, "  and %s others\n", units_count(count, s->maps->chosen.count - shown));
    if (!s->in_depth)
        section_maps_others(p, s);
    return code;
}

/* ----------------------------------------------------------------------- JSON */

static void section_maps_json_address(struct json *j, uint64_t start, uint64_t end)
{
    char address[24];
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)start);
    json_add_text(j, "address", address, strlen(address));
    json_add_number(j, "bytes", end - start);
}

static void section_maps_json_id(struct json *j, const char *key, size_t id)
{
    if (id == MAPS_NONE)
        json_add_null(j, key);
    else
        json_add_number(j, key, id);
}

static int section_maps_json_frames(struct json *j, const struct section_maps *s, const struct mapping *m,
                                    uint32_t stack, struct err *err)
{
    uint32_t trace;
    int code = traces_find(s->traces, m->process, stack, &trace, err);
    json_add_number(j, "stack", stack);
    if (code == 0)
        frames_json_trace(j, "frames", s->traces, trace);
    return code;
}

static int section_maps_json_regions(struct json *j, const struct mapping *m, struct err *err)
{
    struct stretches s;
    stretches_init(&s);
    bool fine = stretches_set(&s, m);
    json_open_array(j, "regions");
    for (size_t i = 0; i < s.list.count && fine; i++) {
        const struct stretch *x = &s.list.data[i];
        json_open_object(j, NULL);
        section_maps_json_address(j, x->start, x->end);
        json_add_number(j, "from_ns", x->from_ns);
        if (x->is_left)
            json_add_null(j, "to_ns");
        else
            json_add_number(j, "to_ns", x->to_ns);
        json_close_object(j);
    }
    json_close_array(j);
    stretches_release(&s);
    return fine ? 0 : err_no_memory(err);
}

static int section_maps_json_lists(struct json *j, const struct section_maps *s, const struct mapping *m,
                                   struct err *err)
{
    int code = 0;
    json_open_array(j, "pieces");
    for (size_t i = 0; i < m->pieces.count; i++) {
        json_open_object(j, NULL);
        section_maps_json_address(j, m->pieces.data[i].start, m->pieces.data[i].end);
        json_close_object(j);
    }
    json_close_array(j);
    code = section_maps_json_regions(j, m, err);
    json_open_array(j, "removals");
    for (size_t i = 0; i < m->removals.count && code == 0; i++) {
        const struct maps_removal *r = &m->removals.data[i];
        const char *by = maps_cause_name(r->cause), *cut = maps_cut_name(r->cut);
        json_open_object(j, NULL);
        json_add_number(j, "time_ns", r->time_ns);
        json_add_number(j, "tid", section_maps_tid(s, m->process, r->thread));
        section_maps_json_address(j, r->start, r->end);
        json_add_text(j, "by", by, strlen(by));
        json_add_text(j, "cut", cut, strlen(cut));
        section_maps_json_id(j, "mapping", r->by);
        code = section_maps_json_frames(j, s, m, r->stack, err);
        json_close_object(j);
    }
    json_close_array(j);
    json_open_array(j, "usage");
    for (size_t i = 0; i < m->usage.count; i++) {
        const struct maps_usage *u = &m->usage.data[i];
        json_open_object(j, NULL);
        json_add_number(j, "time_ns", u->time_ns);
        json_add_number(j, "rss_bytes", u->rss_bytes);
        json_add_number(j, "anonymous_bytes", u->anonymous_bytes);
        json_add_number(j, "swap_bytes", u->swap_bytes);
        json_close_object(j);
    }
    json_close_array(j);
    return code;
}

static int section_maps_json_one(struct json *j, const struct section_maps *s, size_t id, struct err *err)
{
    const struct mapping *m = &s->maps->list.data[id];
    const char *by = maps_cause_name(m->how);
    char rights[5];
    json_add_number(j, "id", id);
    json_add_number(j, "pid", section_maps_pid(s, m->process));
    json_add_number(j, "number", m->number);
    json_add_number(j, "tid", section_maps_tid(s, m->process, m->thread));
    section_maps_json_address(j, m->start, m->end);
    json_add_text(j, "permissions", section_maps_made_rights(rights, m), 4);
    if (m->has_usage || m->is_blurred)
        json_add_text(j, "permissions_seen", section_maps_seen_rights(rights, m), 4);
    else
        json_add_null(j, "permissions_seen");
    json_add_text(j, "by", by, strlen(by));
    json_add_number(j, "flags", m->flags);
    json_add_text(j, "name", m->name, strlen(m->name));
    json_add_number(j, "time_ns", m->made_ns);
    int code = section_maps_json_frames(j, s, m, m->stack, err);
    section_maps_json_id(j, "previous", m->previous);
    json_add_bool(j, "leaked", m->left_bytes != 0);
    json_add_number(j, "left_bytes", m->left_bytes);
    if (m->left_bytes == 0)
        json_add_number(j, "gone_ns", m->gone_ns);
    else
        json_add_null(j, "gone_ns");
    if (m->has_usage) {
        json_add_number(j, "peak_rss_bytes", m->peak_rss_bytes);
        json_add_number(j, "peak_rss_time_ns", m->peak_rss_ns);
    } else {
        json_add_null(j, "peak_rss_bytes");
        json_add_null(j, "peak_rss_time_ns");
    }
    json_add_bool(j, "blurred", m->is_blurred);
    return code == 0 ? section_maps_json_lists(j, s, m, err) : code;
}

int section_maps_json(struct json *j, const struct section_maps *s, struct err *err)
{
    const struct maps *m = s->maps;
    int code = 0;
    json_open_object(j, "maps");
    json_add_number(j, "mappings", m->chosen.count);
    json_add_number(j, "left", m->left);
    json_add_number(j, "left_bytes", m->left_bytes);
    json_add_number(j, "peak_bytes", m->peak_bytes);
    json_add_number(j, "peak_time_ns", m->peak_ns);
    json_add_number(j, "samples", m->samples);
    json_add_number(j, "not_followed", m->beyond);
    json_close_object(j);
    json_open_array(j, "mappings");
    for (size_t i = 0; i < section_maps_shown(s) && code == 0; i++) {
        json_open_object(j, NULL);
        code = section_maps_json_one(j, s, m->chosen.data[i], err);
        json_close_object(j);
    }
    json_close_array(j);
    json_open_array(j, "other_memory");
    for (size_t i = 0; i < m->others.count; i++) {
        const struct maps_other *o = &m->others.data[i];
        json_open_object(j, NULL);
        json_add_number(j, "pid", section_maps_pid(s, o->process));
        json_add_text(j, "name", o->name, strlen(o->name));
        json_add_number(j, "peak_bytes", o->peak_bytes);
        json_add_number(j, "peak_rss_bytes", o->peak_rss_bytes);
        json_close_object(j);
    }
    json_close_array(j);
    return code;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_groups: see section_groups.h.
 */
#include "present/section_groups.h"

#include "present/frames.h"
#include "present/safe.h"
#include "present/suppressed.h"
#include "present/table.h"
#include "present/units.h"
#include "present/unknown.h"

#include <stdio.h>
#include <string.h>

static const struct wake_process *section_groups_process(const struct section_groups *s, uint32_t process)
{
    return process < s->traces->processes.count ? s->traces->processes.data[process].process : NULL;
}

static void section_groups_add_process(struct strbuf *out, const struct wake_process *p)
{
    if (p == NULL)
        return;
    strbuf_addf(out, "%u ", p->info.pid);
    safe_add_text(out, p->info.exe == NULL ? "" : frame_basename(p->info.exe));
}

static void section_groups_add_thread(struct strbuf *out, const struct wake_process *p, uint32_t thread)
{
    const struct wake_thread *t = p == NULL ? NULL : wake_process_find_thread(p, thread);
    if (t == NULL) {
        strbuf_add_text(out, "(not known)");
        return;
    }
    strbuf_addf(out, "%u", t->tid);
    if (t->name[0] != '\0') {
        strbuf_add_char(out, ' ');
        safe_add_text(out, t->name);
    }
}

static void section_groups_add_path(struct strbuf *out, const char *path, const char *none, bool full)
{
    if (path[0] == '\0')
        strbuf_add_text(out, none);
    else if (full)
        strbuf_add_text(out, path);
    else
        safe_add_text(out, path);
}

static void section_groups_add_frame(struct strbuf *out, enum rollup_by by, const struct frame *f, bool full)
{
    if (by == ROLLUP_MODULE)
        section_groups_add_path(out, f->module, "(no module)", full);
    else if (by == ROLLUP_FILE)
        section_groups_add_path(out, f->file, "(no file known)", full);
    else if (by == ROLLUP_LINE && f->line != 0 && full)
        strbuf_addf(out, "%s:%u", f->file, f->line);
    else if (by == ROLLUP_LINE && f->line != 0)
        frames_add_place(out, f);
    else if (by == ROLLUP_FUNCTION && f->function[0] != '\0' && full)
        strbuf_add_text(out, f->function);
    else
        frames_add_name(out, f);
    /* One function has several of these. */
    if (by == ROLLUP_LINE && f->line == 0 && f->function[0] != '\0' && f->role != FRAME_GAP) {
        strbuf_add_text(out, "  ");
        if (f->module[0] != '\0')
            safe_add_text(out, full ? f->module : frame_basename(f->module));
        strbuf_addf(out, "+0x%llx", (unsigned long long)f->address);
    }
}

/* What a group is called; in full for scripts, short for people. */
static void section_groups_add_name(struct strbuf *out, const struct section_groups *s,
                                    const struct rollup_group *g, bool full)
{
    enum rollup_by by = s->groups->by;
    if (by == ROLLUP_THREAD || by == ROLLUP_PROCESS) {
        const struct wake_process *p = section_groups_process(s, g->process);
        if (by == ROLLUP_PROCESS)
            section_groups_add_process(out, p);
        else
            section_groups_add_thread(out, p, g->thread);
    } else if (by == ROLLUP_KIND) {
        strbuf_add_text(out, s->kind == NULL ? "-" : s->kind(g->kind));
    } else if (g->frame == 0) {
        strbuf_add_text(out, "(no stack)");
    } else {
        section_groups_add_frame(out, by, &s->traces->frames.data[g->frame - 1], full);
    }
}

/* Groups that have something of the measure; they are the first. */
static size_t section_groups_count(const struct section_groups *s)
{
    size_t count = 0;
    while (count < s->groups->list.count &&
           measure_blocks(&s->groups->list.data[count].inclusive, s->measure) != 0)
        count++;
    return count;
}

/* Each process has a peak of its own. */
static bool section_groups_are_peaks(const struct section_groups *s)
{
    return s->groups->by == ROLLUP_PROCESS && s->measure == MEASURE_PEAK;
}

static uint64_t section_groups_peak_time(const struct section_groups *s, uint32_t process)
{
    for (size_t i = 0; i < s->result->peaks.count; i++) {
        if (s->result->peaks.data[i].process == process)
            return s->result->peaks.data[i].time_ns;
    }
    return 0;
}

/* Whether group i, of which `shown` came before, is shown. */
static bool section_groups_shows(const struct section_groups *s, size_t i, size_t shown)
{
    double least = s->threshold * (double)measure_weight(&s->groups->total, s->measure);
    uint64_t weight = measure_weight(&s->groups->list.data[i].inclusive, s->measure);
    return (s->limit == 0 || shown < s->limit) && (double)weight >= least;
}

/* -------------------------------------------------------------------- on a page */

static void section_groups_add_value(struct table *t, const struct section_groups *s, const struct metrics *m)
{
    char a[UNITS_MAX], share[32];
    uint64_t weight = measure_weight(m, s->measure), whole = measure_weight(&s->groups->total, s->measure);
    table_add(t, measure_is_by_blocks(s->measure) ? units_count(a, weight) : units_bytes(a, weight));
    if (section_groups_are_peaks(s))
        return;
    snprintf(share, sizeof share, "%.1f %%", whole == 0 ? 0 : 100.0 * (double)weight / (double)whole);
    table_add(t, share);
}

void section_groups_text(struct page *p, const struct section_groups *s)
{
    bool stacked = s->groups->by < ROLLUP_THREAD;
    struct table t;
    struct strbuf name;
    char time[UNITS_MAX];
    rollup_sort(s->groups, s->traces, s->measure);
    size_t count = section_groups_count(s), shown = 0;
    if (unknown_print(p, s->measure, s->unknown, measure_blocks(&s->groups->total, s->measure)))
        return;
    strbuf_init(&name);
    table_init(&t, stacked ? 5 : 3);
    t.has_names = s->groups->by == ROLLUP_FUNCTION;
    t.has_paths = s->groups->by == ROLLUP_MODULE || s->groups->by == ROLLUP_FILE;
    if (section_groups_are_peaks(s))
        page_addf(p, COLOUR_TITLE, "The peak of each process");
    else
        page_addf(p, COLOUR_TITLE, "%s by %s", measure_title(s->measure), rollup_by_name(s->groups->by));
    suppressed_note(&name, s->measure, s->suppress);
    page_add(p, COLOUR_PLAIN, strbuf_get(&name));
    page_end_line(p);
    table_add(&t, stacked ? "self" : measure_name(s->measure));
    table_add(&t, section_groups_are_peaks(s) ? "at" : "");
    if (stacked) {
        table_add(&t, "with callees");
        table_add(&t, "");
    }
    table_add(&t, rollup_by_name(s->groups->by));
    for (size_t i = 0; i < count; i++) {
        const struct rollup_group *g = &s->groups->list.data[i];
        if (!section_groups_shows(s, i, shown))
            continue;
        shown++;
        section_groups_add_value(&t, s, &g->self);
        if (section_groups_are_peaks(s))
            table_add(&t, units_time(time, section_groups_peak_time(s, g->process)));
        if (stacked)
            section_groups_add_value(&t, s, &g->inclusive);
        strbuf_clear(&name);
        section_groups_add_name(&name, s, g, false);
        table_add(&t, strbuf_get(&name));
    }
    table_print(&t, p);
    if (shown < count)
        page_addf(p, COLOUR_QUIET, "  and %zu more\n", count - shown);
    table_release(&t);
    strbuf_release(&name);
}

/* ------------------------------------------------------------------------ JSON */

/* Threads and processes are told apart by their numbers. */
static void section_groups_json_ids(struct json *j, const struct section_groups *s,
                                    const struct rollup_group *g)
{
    const struct wake_process *p = section_groups_process(s, g->process);
    if (p == NULL || (s->groups->by != ROLLUP_THREAD && s->groups->by != ROLLUP_PROCESS))
        return;
    json_add_number(j, "pid", p->info.pid);
    if (s->groups->by == ROLLUP_THREAD) {
        const struct wake_thread *t = wake_process_find_thread(p, g->thread);
        json_add_number(j, "tid", t == NULL ? 0 : t->tid);
    }
}

void section_groups_json(struct json *j, const struct section_groups *s)
{
    struct strbuf name;
    rollup_sort(s->groups, s->traces, s->measure);
    size_t count = section_groups_count(s), shown = 0;
    strbuf_init(&name);
    json_open_object(j, measure_name(s->measure));
    json_add_text(j, "by", rollup_by_name(s->groups->by), strlen(rollup_by_name(s->groups->by)));
    json_add_number(j, "total_bytes", measure_bytes(&s->groups->total, s->measure));
    json_add_number(j, "total_blocks", measure_blocks(&s->groups->total, s->measure));
    json_add_number(j, "group_count", count);
    json_open_array(j, "groups");
    for (size_t i = 0; i < count; i++) {
        const struct rollup_group *g = &s->groups->list.data[i];
        if (!section_groups_shows(s, i, shown))
            continue;
        shown++;
        strbuf_clear(&name);
        section_groups_add_name(&name, s, g, true);
        json_open_object(j, NULL);
        json_add_text(j, "name", strbuf_get(&name), name.length);
        section_groups_json_ids(j, s, g);
        if (section_groups_are_peaks(s))
            json_add_number(j, "time_ns", section_groups_peak_time(s, g->process));
        json_add_number(j, "self_bytes", measure_bytes(&g->self, s->measure));
        json_add_number(j, "self_blocks", measure_blocks(&g->self, s->measure));
        json_add_number(j, "bytes", measure_bytes(&g->inclusive, s->measure));
        json_add_number(j, "blocks", measure_blocks(&g->inclusive, s->measure));
        json_close_object(j);
    }
    json_close_array(j);
    suppressed_json(j, s->measure, s->suppress);
    json_close_object(j);
    strbuf_release(&name);
}

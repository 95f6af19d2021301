/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_replay: see section_replay.h.
 */
#include "present/section_replay.h"

#include "present/safe.h"
#include "present/table.h"
#include "present/units.h"

#include <stdio.h>
#include <string.h>

static bool section_replay_is_shown(const struct replay_row *row)
{
    return row->result.outcome == SCORE_PLAYED;
}

/* Resident bytes for each byte that the program had asked for. */
static double section_replay_ratio(const struct section_replay *s, const struct replay_row *row)
{
    uint64_t live = s->compose->peak_bytes;
    return live == 0 ? 0 : (double)row->result.peak_rss_bytes / (double)live;
}

static void section_replay_row(struct table *t, const struct section_replay *s, const struct replay_row *row)
{
    char text[UNITS_MAX];
    struct strbuf name;
    table_add(t, units_time(text, row->result.cpu_ns));
    table_add(t, units_time(text, row->result.elapsed_ns));
    table_add(t, units_bytes(text, row->result.peak_rss_bytes));
    table_add(t, units_bytes(text, s->compose->peak_bytes));
    snprintf(text, sizeof text, "%.2f", section_replay_ratio(s, row));
    table_add(t, text);
    table_add(t, units_count(text, row->result.failed));
    strbuf_init(&name);
    safe_add_text(&name, row->name);
    table_add(t, strbuf_get(&name));
    strbuf_release(&name);
}

void section_replay_text(struct page *p, const struct section_replay *s)
{
    static const char *const headings[] = {"CPU time", "elapsed", "peak RSS", "live at peak",
                                           "RSS/live", "failed",  "allocator"};
    const size_t columns = sizeof headings / sizeof *headings;
    char a[UNITS_MAX], b[UNITS_MAX];
    const struct replay_script *c = s->compose;
    struct table t;
    page_add(p, COLOUR_TITLE, "Replay");
    page_addf(p, COLOUR_PLAIN, " of process %u: %s allocation%s and %s release%s by ", s->pid,
              units_count(a, c->allocations), units_plural(c->allocations), units_count(b, c->releases),
              units_plural(c->releases));
    page_addf(p, COLOUR_PLAIN, "%s thread%s\n", units_count(a, c->parts.count),
              c->parts.count == 1 ? "" : "s");
    table_init(&t, columns);
    for (size_t i = 0; i < columns; i++)
        table_add(&t, headings[i]);
    for (size_t i = 0; i < s->count; i++) {
        if (section_replay_is_shown(&s->rows[i]))
            section_replay_row(&t, s, &s->rows[i]);
    }
    table_print(&t, p);
    p->out->failed |= t.failed;
    table_release(&t);
}

static void section_replay_json_row(struct json *j, const struct section_replay *s,
                                    const struct replay_row *row)
{
    const struct score_result *r = &row->result;
    json_open_object(j, NULL);
    json_add_text(j, "name", row->name, strlen(row->name));
    json_add_bool(j, "played", section_replay_is_shown(row));
    if (section_replay_is_shown(row)) {
        json_add_text(j, "file", r->path, strnlen(r->path, sizeof r->path));
        json_add_number(j, "cpu_ns", r->cpu_ns);
        json_add_number(j, "elapsed_ns", r->elapsed_ns);
        json_add_number(j, "peak_rss_bytes", r->peak_rss_bytes);
        json_add_number(j, "peak_live_bytes", s->compose->peak_bytes);
        json_add_real(j, "fragmentation", section_replay_ratio(s, row));
        json_add_number(j, "calls", r->calls);
        json_add_number(j, "failed_calls", r->failed);
        json_add_number(j, "player_cpu_ns", r->own_cpu_ns);
        json_add_number(j, "player_rss_bytes", r->own_rss_bytes);
    }
    json_close_object(j);
}

void section_replay_json(struct json *j, const struct section_replay *s)
{
    const struct replay_script *c = s->compose;
    json_open_object(j, "process");
    json_add_number(j, "pid", s->pid);
    json_add_number(j, "threads", c->parts.count);
    json_add_number(j, "allocations", c->allocations);
    json_add_number(j, "releases", c->releases);
    json_add_number(j, "released_by_other_threads", c->crossings);
    json_add_number(j, "left_out_events", c->left_out);
    json_add_number(j, "peak_live_bytes", c->peak_bytes);
    json_add_number(j, "peak_live_blocks", c->peak_blocks);
    json_close_object(j);
    json_add_text(j, "touch", s->touch, strlen(s->touch));
    json_open_array(j, "allocators");
    for (size_t i = 0; i < s->count; i++)
        section_replay_json_row(j, s, &s->rows[i]);
    json_close_array(j);
}

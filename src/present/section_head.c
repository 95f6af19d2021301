/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_head: see section_head.h.
 *
 * Five lines, and a sixth in the colour of alarm when the recording is not
 * whole.
 */
#include "present/section_head.h"

#include "present/safe.h"
#include "present/units.h"
#include "present/width.h"

#include <stdio.h>
#include <string.h>

static double section_head_rate(const struct section_head *h)
{
    return h->runtime_ns == 0 ? 0 : (double)h->allocations / ((double)h->runtime_ns / 1e9);
}

static double section_head_percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

/* "2.9 million" for people; exact figures are in the JSON. */
static const char *section_head_round(char *text, double value)
{
    if (value >= 1e6)
        snprintf(text, UNITS_MAX, "%.1f million", value / 1e6);
    else
        units_count(text, (uint64_t)(value + 0.5));
    return text;
}

static void section_head_label(struct page *p, const char *label)
{
    page_addf(p, COLOUR_QUIET, "  %-10s ", label);
}

static void section_head_command(struct page *p, const struct section_head *h)
{
    struct strbuf line, ran;
    char a[UNITS_MAX];
    strbuf_init(&line);
    strbuf_init(&ran);
    safe_add_command(&line, h->args, h->args_length);
    strbuf_addf(&ran, "ran %s, %s", units_time(a, h->runtime_ns), h->end);
    size_t right = width_of(strbuf_get(&ran)), left = p->width > right + 2 ? p->width - right - 2 : 20;
    size_t used = page_add_short(p, COLOUR_TITLE, strbuf_get(&line), left);
    page_addf(p, COLOUR_PLAIN, "%*s%s", (int)(left - used + 2), "", strbuf_get(&ran));
    page_end_line(p);
    strbuf_release(&line);
    strbuf_release(&ran);
}

static void section_head_losses(struct page *p, const struct section_head *h)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    if (h->cut_stacks != 0) {
        section_head_label(p, "cut stacks");
        page_addf(p, COLOUR_PLAIN, "%s of %s", units_count(a, h->cut_stacks), units_count(b, h->stacks));
        page_end_line(p);
    }
    if (h->lost_events == 0 && h->complete)
        return;
    section_head_label(p, "lost");
    page_addf(p, COLOUR_ALARM, "%s events%s", units_count(a, h->lost_events),
              h->complete ? "" : "; the recording is not complete, see heapwake info");
    page_end_line(p);
}

void section_head_text(struct page *p, const struct section_head *h)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    section_head_command(p, h);
    section_head_label(p, "allocated");
    page_addf(p, COLOUR_PLAIN, "%10s  in %s calls, ", units_bytes(a, h->allocated_bytes),
              units_count(b, h->allocations));
    page_addf(p, COLOUR_PLAIN, "%s a second", section_head_round(a, section_head_rate(h)));
    page_end_line(p);
    section_head_label(p, "peak");
    page_addf(p, COLOUR_PLAIN, "%10s  at %s", units_bytes(a, h->peak_bytes), units_time(b, h->peak_time_ns));
    if (h->processes > 1)
        page_addf(p, COLOUR_PLAIN, " in process %u", h->peak_pid);
    if (h->peak_rss_bytes != 0)
        page_addf(p, COLOUR_PLAIN, "; resident at most %s", units_bytes(a, h->peak_rss_bytes));
    page_end_line(p);
    section_head_label(p, "leaked");
    page_addf(p, h->leaked_bytes > h->suppressed_bytes ? COLOUR_ALARM : COLOUR_PLAIN, "%10s",
              units_bytes(a, h->leaked_bytes - h->suppressed_bytes));
    page_addf(p, COLOUR_PLAIN, "  in %s blocks", units_count(a, h->leaked_blocks - h->suppressed_blocks));
    if (h->suppressed_bytes != 0)
        page_addf(p, COLOUR_PLAIN, "; %s more suppressed", units_bytes(a, h->suppressed_bytes));
    page_end_line(p);
    section_head_label(p, "temporary");
    page_addf(p, COLOUR_PLAIN, "%8.1f %%  of the calls: freed before their thread's next one",
              section_head_percent(h->temporary_blocks, h->allocations));
    page_end_line(p);
    if (h->processes > 1 || h->threads > 1) {
        section_head_label(p, "processes");
        page_addf(p, COLOUR_PLAIN, "%10s  with %s threads", units_count(a, h->processes),
                  units_count(b, h->threads));
        if (h->files > 1)
            page_addf(p, COLOUR_PLAIN, ", in %s recordings", units_count(a, h->files));
        page_end_line(p);
    }
    section_head_losses(p, h);
}

void section_head_json(struct json *j, const struct section_head *h)
{
    struct strbuf line;
    strbuf_init(&line);
    safe_add_command(&line, h->args, h->args_length);
    json_open_object(j, "summary");
    json_add_text(j, "command", strbuf_get(&line), line.length);
    json_add_text(j, "end", h->end, strlen(h->end));
    json_add_number(j, "files", h->files);
    json_add_number(j, "processes", h->processes);
    json_add_number(j, "threads", h->threads);
    json_add_number(j, "runtime_ns", h->runtime_ns);
    json_add_number(j, "allocations", h->allocations);
    json_add_number(j, "frees", h->frees);
    json_add_number(j, "allocated_bytes", h->allocated_bytes);
    json_add_real(j, "allocations_per_second", section_head_rate(h));
    json_add_number(j, "peak_bytes", h->peak_bytes);
    json_add_number(j, "peak_blocks", h->peak_blocks);
    json_add_number(j, "peak_time_ns", h->peak_time_ns);
    json_add_number(j, "peak_pid", h->peak_pid);
    json_add_number(j, "leaked_bytes", h->leaked_bytes);
    json_add_number(j, "leaked_blocks", h->leaked_blocks);
    json_add_number(j, "suppressed_bytes", h->suppressed_bytes);
    json_add_number(j, "suppressed_blocks", h->suppressed_blocks);
    json_add_number(j, "temporary_blocks", h->temporary_blocks);
    json_add_real(j, "temporary_percent", section_head_percent(h->temporary_blocks, h->allocations));
    json_add_number(j, "peak_rss_bytes", h->peak_rss_bytes);
    json_add_number(j, "lost_events", h->lost_events);
    json_add_number(j, "stacks", h->stacks);
    json_add_number(j, "cut_stacks", h->cut_stacks);
    json_add_bool(j, "complete", h->complete);
    json_close_object(j);
    strbuf_release(&line);
}

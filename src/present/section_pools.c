/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_pools: see section_pools.h.
 */
#include "present/section_pools.h"

#include "present/frames.h"
#include "present/safe.h"
#include "present/units.h"

#include <string.h>

enum { POOLS_NAME = 12, POOLS_INDENT = POOLS_NAME + 4, POOLS_FRAME_MIN = 24 };

/* A size in the pool's unit. */
static void section_pools_size(struct strbuf *line, const struct pool_total *a, uint64_t size)
{
    char text[UNITS_MAX];
    if (strcmp(a->pool->unit, "bytes") == 0) {
        strbuf_add_text(line, units_bytes(text, size));
        return;
    }
    strbuf_addf(line, "%s ", units_count(text, size));
    safe_add_text(line, a->pool->unit);
}

/* What is said of a stack, and the frame that it is shown by. */
static int section_pools_frame(struct page *p, const struct section_pools *s, const struct pool_total *a,
                               uint32_t stack, const struct strbuf *said, const char *lead, struct err *err)
{
    uint32_t trace;
    int code = traces_find(s->traces, a->process, stack, &trace, err);
    if (code != 0)
        return code;
    size_t used = page_add_wrapped(p, COLOUR_PLAIN, strbuf_get(said), 0, POOLS_INDENT);
    if (used + strlen(lead) + POOLS_FRAME_MIN > p->width) {
        page_end_line(p);
        page_addf(p, COLOUR_PLAIN, "%*s", POOLS_INDENT - 2, "");
        used = POOLS_INDENT - 2;
    }
    page_add(p, COLOUR_QUIET, lead);
    used += strlen(lead);
    if (trace == 0)
        page_add(p, COLOUR_QUIET, "(no stack)");
    else
        frames_print(p, traces_frame(s->traces, traces_find_own(s->traces, trace)),
                     p->width > used + POOLS_FRAME_MIN ? p->width - used : POOLS_FRAME_MIN, true);
    page_end_line(p);
    return 0;
}

static int section_pools_detail(struct page *p, const struct section_pools *s, const struct pool_total *a,
                                struct err *err)
{
    char count[UNITS_MAX];
    struct strbuf line;
    int code = 0;
    strbuf_init(&line);
    for (size_t i = 0; i < a->sites.count && (s->limit == 0 || i < s->limit) && code == 0; i++) {
        const struct pool_total_site *site = &a->sites.data[i];
        strbuf_clear(&line);
        strbuf_add_text(&line, "    ");
        section_pools_size(&line, a, site->live);
        strbuf_add_text(&line, " live of ");
        section_pools_size(&line, a, site->made);
        strbuf_addf(&line, " in %sx", units_count(count, site->made_blocks));
        code = section_pools_frame(p, s, a, site->stack, &line, "  from ", err);
    }
    for (size_t i = 0; i < a->holders.count && (s->limit == 0 || i < s->limit) && code == 0; i++) {
        strbuf_clear(&line);
        strbuf_add_text(&line, "    ");
        section_pools_size(&line, a, a->holders.data[i].size);
        strbuf_addf(&line, " in %sx", units_count(count, a->holders.data[i].blocks));
        code = section_pools_frame(p, s, a, a->holders.data[i].stack, &line, "  inside blocks of ", err);
    }
    strbuf_release(&line);
    return code;
}

static void section_pools_sum(struct page *p, const struct pool_total *a)
{
    char count[UNITS_MAX];
    struct strbuf line, name;
    strbuf_init(&line);
    strbuf_init(&name);
    safe_add_text(&name, a->pool->name);
    strbuf_addf(&line, "  %-*s  ", POOLS_NAME, strbuf_get(&name));
    section_pools_size(&line, a, a->live);
    strbuf_addf(&line, " live in %s block%s at the end, at most ", units_count(count, a->live_blocks),
                units_plural(a->live_blocks));
    section_pools_size(&line, a, a->peak);
    strbuf_add_text(&line, "; made ");
    section_pools_size(&line, a, a->made);
    strbuf_addf(&line, " in %sx", units_count(count, a->made_blocks));
    page_add_wrapped(p, COLOUR_PLAIN, strbuf_get(&line), 0, POOLS_INDENT);
    page_end_line(p);
    strbuf_release(&name);
    strbuf_release(&line);
}

int section_pools_text(struct page *p, const struct section_pools *s, struct err *err)
{
    int code = 0;
    page_add(p, COLOUR_TITLE, "Pools");
    page_add(p, COLOUR_PLAIN,
             s->accounts->list.count == 0 ? ": none\n" : ", which are not counted in the heap\n");
    for (size_t i = 0; i < s->accounts->list.count && code == 0; i++) {
        section_pools_sum(p, s->accounts->list.data[i]);
        if (!s->brief)
            code = section_pools_detail(p, s, s->accounts->list.data[i], err);
    }
    return code;
}

/* "frames" of a stack. */
static int section_pools_json_frames(struct json *j, const struct section_pools *s,
                                     const struct pool_total *a, uint32_t stack, struct err *err)
{
    uint32_t trace;
    int code = traces_find(s->traces, a->process, stack, &trace, err);
    if (code == 0)
        frames_json_trace(j, "frames", s->traces, trace);
    return code;
}

static int section_pools_json_one(struct json *j, const struct section_pools *s, const struct pool_total *a,
                                  struct err *err)
{
    int code = 0;
    json_add_text(j, "name", a->pool->name, strlen(a->pool->name));
    json_add_text(j, "unit", a->pool->unit, strlen(a->pool->unit));
    json_add_number(j, "pid", s->traces->processes.data[a->process].process->info.pid);
    json_add_number(j, "live", a->live);
    json_add_number(j, "live_blocks", a->live_blocks);
    json_add_number(j, "peak", a->peak);
    json_add_number(j, "peak_blocks", a->peak_blocks);
    json_add_number(j, "made", a->made);
    json_add_number(j, "made_blocks", a->made_blocks);
    json_open_array(j, "sites");
    for (size_t i = 0; i < a->sites.count && (s->limit == 0 || i < s->limit) && code == 0; i++) {
        json_open_object(j, NULL);
        json_add_number(j, "live", a->sites.data[i].live);
        json_add_number(j, "live_blocks", a->sites.data[i].live_blocks);
        json_add_number(j, "made", a->sites.data[i].made);
        json_add_number(j, "made_blocks", a->sites.data[i].made_blocks);
        code = section_pools_json_frames(j, s, a, a->sites.data[i].stack, err);
        json_close_object(j);
    }
    json_close_array(j);
    json_open_array(j, "inside");
    for (size_t i = 0; i < a->holders.count && (s->limit == 0 || i < s->limit) && code == 0; i++) {
        json_open_object(j, NULL);
        json_add_number(j, "size", a->holders.data[i].size);
        json_add_number(j, "blocks", a->holders.data[i].blocks);
        code = section_pools_json_frames(j, s, a, a->holders.data[i].stack, err);
        json_close_object(j);
    }
    json_close_array(j);
    return code;
}

int section_pools_json(struct json *j, const struct section_pools *s, struct err *err)
{
    int code = 0;
    json_open_array(j, "pools");
    for (size_t i = 0; i < s->accounts->list.count && code == 0; i++) {
        json_open_object(j, NULL);
        code = section_pools_json_one(j, s, s->accounts->list.data[i], err);
        json_close_object(j);
    }
    json_close_array(j);
    return code;
}

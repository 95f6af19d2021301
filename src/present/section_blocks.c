/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_blocks: see section_blocks.h.
 */
#include "present/section_blocks.h"

#include "engine/measure.h"
#include "present/frames.h"
#include "present/safe.h"
#include "present/suppressed.h"
#include "present/units.h"

#include <stdio.h>
#include <string.h>

enum { SECTION_BLOCKS_INDENT = 8, SECTION_BLOCKS_DEEPER = 16 };

static const struct wake_process *section_blocks_process(const struct section_blocks *s,
                                                         const struct section_block *b)
{
    return s->traces->processes.data[b->process].process;
}

static const struct wake_thread *section_blocks_thread(const struct section_blocks *s,
                                                       const struct section_block *b)
{
    return wake_process_find_thread(section_blocks_process(s, b), b->b.thread);
}

/* ------------------------------------------------------------------ on a page */

static void section_blocks_title(struct page *p, const struct section_blocks *s)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    struct strbuf line;
    strbuf_init(&line);
    page_add(p, COLOUR_TITLE, measure_title(MEASURE_LEAKED));
    if (s->total_blocks == 0)
        strbuf_add_text(&line, ": nothing");
    else
        strbuf_addf(&line, ": %s in %s block%s", units_bytes(a, s->total_bytes),
                    units_count(b, s->total_blocks), units_plural(s->total_blocks));
    suppressed_note(&line, MEASURE_LEAKED, s->suppress);
    page_add_wrapped(p, COLOUR_PLAIN, strbuf_get(&line), strlen(measure_title(MEASURE_LEAKED)), 2);
    page_end_line(p);
    strbuf_release(&line);
}

static void section_blocks_stack(struct page *p, const struct section_blocks *s, uint32_t trace)
{
    page_addf(p, COLOUR_PLAIN, "%*scallstack:%s", SECTION_BLOCKS_INDENT, "", trace == 0 ? " (no stack)" : "");
    page_end_line(p);
    for (; trace != 0; trace = traces_parent(s->traces, trace)) {
        const struct frame *f = traces_frame(s->traces, trace);
        char address[32];
        size_t indent = p->width > 60 ? SECTION_BLOCKS_DEEPER : SECTION_BLOCKS_INDENT;
        size_t used =
            indent + (size_t)snprintf(address, sizeof address, "0x%llx: ", (unsigned long long)f->address);
        page_addf(p, COLOUR_QUIET, "%*s%s", (int)indent, "", address);
        frames_print(p, f, p->width > used + 10 ? p->width - used : 10, f->role == FRAME_OWN);
        page_end_line(p);
    }
}

static void section_blocks_time(struct page *p, const struct section_blocks *s, const struct section_block *b)
{
    char time[UNITS_MAX];
    page_addf(p, COLOUR_PLAIN, "%*stimestamp: %llu (%s after the start)", SECTION_BLOCKS_INDENT, "",
              (unsigned long long)((s->wall_ns[b->process] + b->b.born_ns) / 1000),
              units_time(time, b->b.born_ns));
    page_end_line(p);
}

static void section_blocks_who(struct page *p, const struct section_blocks *s, const struct section_block *b)
{
    const struct wake_thread *t = section_blocks_thread(s, b);
    struct strbuf line;
    strbuf_init(&line);
    safe_add_text(&line, t == NULL || t->name == NULL ? "unknown" : t->name);
    strbuf_addf(&line, " (%u)", t == NULL ? 0 : t->tid);
    if (s->traces->processes.count > 1)
        strbuf_addf(&line, " of process %u", section_blocks_process(s, b)->info.pid);
    page_addf(p, COLOUR_PLAIN, "%*sthread   : ", SECTION_BLOCKS_INDENT, "");
    page_add_wrapped(p, COLOUR_PLAIN, strbuf_get(&line), SECTION_BLOCKS_INDENT + strlen("thread   : "),
                     SECTION_BLOCKS_DEEPER);
    page_end_line(p);
    strbuf_release(&line);
}

static void section_blocks_one(struct page *p, const struct section_blocks *s, size_t i)
{
    const struct section_block *b = &s->list[i];
    char bytes[UNITS_MAX], blocks[UNITS_MAX];
    page_addf(p, COLOUR_NAME, "%zu: block of %llu bytes not freed", i + 1, (unsigned long long)b->b.size);
    page_end_line(p);
    page_addf(p, COLOUR_PLAIN, "%*saddress  : 0x%llx", SECTION_BLOCKS_INDENT, "",
              (unsigned long long)b->b.address);
    page_end_line(p);
    section_blocks_time(p, s, b);
    section_blocks_who(p, s, b);
    if (b->b.blocks != 1)
        page_addf(p, COLOUR_PLAIN, "%*sstands for %s in %s block%s\n", SECTION_BLOCKS_INDENT, "",
                  units_bytes(bytes, b->b.bytes), units_count(blocks, b->b.blocks),
                  units_plural(b->b.blocks));
    section_blocks_stack(p, s, b->trace);
}

static void section_blocks_rest(struct page *p, uint64_t bytes, uint64_t blocks, const char *what)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    struct strbuf line;
    if (blocks == 0)
        return;
    strbuf_init(&line);
    strbuf_addf(&line, "and %s in %s more block%s%s", units_bytes(a, bytes), units_count(b, blocks),
                units_plural(blocks), what);
    page_add_wrapped(p, COLOUR_QUIET, strbuf_get(&line), 0, 2);
    page_end_line(p);
    strbuf_release(&line);
}

void section_blocks_text(struct page *p, const struct section_blocks *s)
{
    section_blocks_title(p, s);
    for (size_t i = 0; i < s->count; i++)
        section_blocks_one(p, s, i);
    section_blocks_rest(p, s->found_bytes - s->shown_bytes, s->found_blocks - s->shown_blocks,
                        "; -n 0 shows all");
    if (s->total_blocks > s->found_blocks)
        section_blocks_rest(p, s->total_bytes - s->found_bytes, s->total_blocks - s->found_blocks,
                            ", known by count alone");
}

/* ---------------------------------------------------------------------- JSON */

static void section_blocks_json_one(struct json *j, const struct section_blocks *s,
                                    const struct section_block *b)
{
    const struct wake_thread *t = section_blocks_thread(s, b);
    const char *name = t == NULL || t->name == NULL ? "" : t->name;
    char address[24];
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)b->b.address);
    json_open_object(j, NULL);
    json_add_number(j, "size", b->b.size);
    json_add_text(j, "address", address, strlen(address));
    json_add_number(j, "time_ns", b->b.born_ns);
    json_add_number(j, "pid", section_blocks_process(s, b)->info.pid);
    json_add_number(j, "tid", t == NULL ? 0 : t->tid);
    json_add_text(j, "thread", name, strlen(name));
    json_add_number(j, "blocks", b->b.blocks);
    json_add_number(j, "bytes", b->b.bytes);
    frames_json_trace(j, "frames", s->traces, b->trace);
    json_close_object(j);
}

void section_blocks_json(struct json *j, const struct section_blocks *s)
{
    json_open_object(j, measure_name(MEASURE_LEAKED));
    json_add_number(j, "total_bytes", s->total_bytes);
    json_add_number(j, "total_blocks", s->total_blocks);
    json_add_number(j, "block_count", s->found_count);
    json_open_array(j, "blocks");
    for (size_t i = 0; i < s->count; i++)
        section_blocks_json_one(j, s, &s->list[i]);
    json_close_array(j);
    suppressed_json(j, MEASURE_LEAKED, s->suppress);
    json_close_object(j);
}

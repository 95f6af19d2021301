/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_advice: see section_advice.h.
 */
#include "present/section_advice.h"

#include "present/callers.h"
#include "present/frames.h"
#include "present/table.h"
#include "present/units.h"

#include <stdio.h>
#include <string.h>

static void section_advice_sentence(char *text, size_t size, const struct advice *a)
{
    char count[UNITS_MAX], bytes[UNITS_MAX], other[UNITS_MAX];
    units_count(count, a->count);
    units_bytes(bytes, a->bytes);
    units_bytes(other, a->size);
    switch (a->kind) {
    case ADVICE_RESERVE:
        snprintf(text, size, "%s steps of realloc copied %s: reserve %s", count, bytes, other);
        break;
    case ADVICE_REUSE:
        snprintf(text, size, "%s blocks were freed before the next: reuse one", count);
        break;
    case ADVICE_POOL:
        snprintf(text, size, "%s tiny blocks at once waste %s: pool them", count, bytes);
        break;
    case ADVICE_KEEP:
        snprintf(text, size, "%s large blocks lived shortly (%s in all): keep one", count, bytes);
        break;
    case ADVICE_CROSS:
        snprintf(text, size, "%s blocks were freed by other threads", count);
        break;
    default:
        snprintf(text, size, "%s blocks at once, each alone in %s: align less", count, other);
    }
}

static void section_advice_saved(char *text, size_t size, const struct advice *a)
{
    char amount[UNITS_MAX];
    if (a->saved_bytes > 0)
        snprintf(text, size, "%s", units_bytes(amount, a->saved_bytes));
    else
        snprintf(text, size, "%s", units_time(amount, a->saved_ns));
}

static void section_advice_gaps(struct page *p, const struct advices *a)
{
    char count[UNITS_MAX];
    if (a->is_sampled)
        page_add(p, COLOUR_QUIET,
                 "  Estimates from samples, which cannot tell realloc chains and temporaries.\n");
    if (a->left_out > 0)
        page_addf(p, COLOUR_QUIET, "  Without %s short-lived or later blocks that are in the totals only.\n",
                  units_count(count, a->left_out));
}

void section_advice_text(struct page *p, const struct section_advice *s)
{
    size_t count = s->advices->list.count, shown = 0;
    char text[3 * UNITS_MAX + 64];
    struct table t;
    while (shown < count && (s->limit == 0 || shown < s->limit) &&
           s->advices->list.data[shown].share >= s->least_share)
        shown++;
    page_add(p, COLOUR_TITLE, "Advice");
    page_add(p, COLOUR_PLAIN,
             shown == 0 ? ": none\n" : ": about what could be saved, of the peak or of the run time\n");
    table_init(&t, 3);
    for (size_t i = 0; i < shown; i++) {
        const struct advice *a = &s->advices->list.data[i];
        section_advice_saved(text, sizeof text, a);
        table_add(&t, text);
        snprintf(text, sizeof text, "%.1f %%", 100 * a->share);
        table_add(&t, text);
        table_add(&t, "");
    }
    size_t indent = table_indent(&t), left = p->width > indent + 10 ? p->width - indent : 10;
    for (size_t i = 0; i < shown && !t.failed; i++) {
        const struct advice *a = &s->advices->list.data[i];
        table_print_row(&t, p, i);
        callers_print_lead(p, s->traces, a->trace, left);
        page_end_line(p);
        section_advice_sentence(text, sizeof text, a);
        page_addf(p, COLOUR_PLAIN, "%*s", (int)indent, "");
        page_add_short(p, COLOUR_PLAIN, text, left);
        page_end_line(p);
        callers_print_below(p, s->traces, a->trace, indent, CALLERS_SHOWN);
    }
    p->out->failed |= t.failed;
    table_release(&t);
    if (shown < count)
        page_addf(p, COLOUR_QUIET, "  and %zu that would save %s; -n 0 shows all\n", count - shown,
                  s->advices->list.data[shown].share < s->least_share ? "next to nothing" : "less");
    section_advice_gaps(p, s->advices);
}

void section_advice_json(struct json *j, const struct section_advice *s)
{
    json_open_array(j, "advice");
    for (size_t i = 0; i < s->advices->list.count && (s->limit == 0 || i < s->limit); i++) {
        const struct advice *a = &s->advices->list.data[i];
        json_open_object(j, NULL);
        json_add_text(j, "kind", advice_name(a->kind), strlen(advice_name(a->kind)));
        json_add_number(j, "saved_bytes", a->saved_bytes);
        json_add_number(j, "saved_ns", a->saved_ns);
        json_add_real(j, "percent", 100 * a->share);
        json_add_number(j, "count", a->count);
        json_add_number(j, "bytes", a->bytes);
        json_add_number(j, "size", a->size);
        frames_json_trace(j, "frames", s->traces, a->trace);
        json_close_object(j);
    }
    json_close_array(j);
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_drift: see section_drift.h.
 */
#include "present/section_drift.h"

#include "present/callers.h"
#include "present/frames.h"
#include "present/table.h"
#include "present/units.h"

#include <stdio.h>

static uint64_t section_drift_size(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static const char *section_drift_sign(int64_t value)
{
    return value < 0 ? "-" : "+";
}

static bool section_drift_is_shown(const struct drift *d, size_t i, size_t grown, size_t limit)
{
    if (limit == 0)
        return true;
    return i < grown ? i < limit : d->list.count - i <= limit;
}

static void section_drift_row(struct table *t, const struct drift_site *s)
{
    char a[UNITS_MAX], cell[UNITS_MAX + 8];
    snprintf(cell, sizeof cell, "%s%s", section_drift_sign(s->bytes),
             units_bytes(a, section_drift_size(s->bytes)));
    table_add(t, cell);
    snprintf(cell, sizeof cell, "%s%sx", section_drift_sign(s->blocks),
             units_count(a, section_drift_size(s->blocks)));
    table_add(t, cell);
    table_add(t, "");
}

static void section_drift_site(struct page *p, const struct traces *c, const struct table *t, size_t row,
                               uint32_t trace)
{
    size_t indent = table_indent(t), left = p->width > indent + 10 ? p->width - indent : 10;
    table_print_row(t, p, row);
    callers_print_lead(p, c, trace, left);
    page_end_line(p);
    callers_print_line(p, c, trace, indent > 12 ? 12 : indent);
}

void section_drift_text(struct page *p, const struct traces *c, const struct drift *d, const char *title,
                        size_t limit)
{
    struct table t;
    char a[UNITS_MAX], b[UNITS_MAX];
    size_t grown = 0, row = 0;
    while (grown < d->list.count && d->list.data[grown].bytes > 0)
        grown++;
    page_add(p, COLOUR_TITLE, "Change of what is live");
    page_addf(p, COLOUR_PLAIN, " %s: %s%s in %s%s blocks\n", title, section_drift_sign(d->bytes),
              units_bytes(a, section_drift_size(d->bytes)), section_drift_sign(d->blocks),
              units_count(b, section_drift_size(d->blocks)));
    table_init(&t, 3);
    for (size_t i = 0; i < d->list.count; i++) {
        if (section_drift_is_shown(d, i, grown, limit))
            section_drift_row(&t, &d->list.data[i]);
    }
    for (size_t i = 0; i < d->list.count && !t.failed; i++) {
        if (section_drift_is_shown(d, i, grown, limit))
            section_drift_site(p, c, &t, row++, d->list.data[i].trace);
    }
    p->out->failed |= t.failed;
    if (row < d->list.count)
        page_addf(p, COLOUR_QUIET, "  and %s other site%s\n", units_count(a, d->list.count - row),
                  d->list.count - row == 1 ? "" : "s");
    table_release(&t);
}

void section_drift_json(struct json *j, const struct traces *c, const struct drift *d, size_t limit)
{
    json_open_object(j, "change");
    json_add_signed(j, "total_bytes", d->bytes);
    json_add_signed(j, "total_blocks", d->blocks);
    json_add_number(j, "site_count", d->list.count);
    json_open_array(j, "sites");
    for (size_t i = 0; i < d->list.count && (limit == 0 || i < limit); i++) {
        const struct drift_site *s = &d->list.data[i];
        json_open_object(j, NULL);
        json_add_signed(j, "bytes", s->bytes);
        json_add_signed(j, "blocks", s->blocks);
        frames_json_trace(j, "frames", c, s->trace);
        json_close_object(j);
    }
    json_close_array(j);
    json_close_object(j);
}

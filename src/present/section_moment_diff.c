/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_moment_diff: see section_moment_diff.h.
 */
#include "present/section_moment_diff.h"

#include "present/callers.h"
#include "present/frames.h"
#include "present/table.h"
#include "present/units.h"

#include <stdio.h>

static uint64_t section_moment_diff_size(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static const char *section_moment_diff_sign(int64_t value)
{
    return value < 0 ? "-" : "+";
}

/* What is shown: the first of those that have grown, and the last of the others, as far as they have
 * moved far enough. */
struct section_moment_diff_choice {
    size_t grown, limit;
    double least;
};

static bool section_moment_diff_has_grown(const struct drift_site *s)
{
    return s->bytes > 0 || (s->bytes == 0 && s->blocks > 0);
}

static struct section_moment_diff_choice section_moment_diff_choose(const struct section_moment_diff *s)
{
    struct section_moment_diff_choice c = {.limit = s->limit};
    double moved = 0;
    for (size_t i = 0; i < s->drift->list.count; i++)
        moved += (double)section_moment_diff_size(s->drift->list.data[i].bytes);
    while (c.grown < s->drift->list.count && section_moment_diff_has_grown(&s->drift->list.data[c.grown]))
        c.grown++;
    c.least = s->threshold * moved;
    return c;
}

static bool section_moment_diff_is_shown(const struct drift *d, size_t i,
                                         const struct section_moment_diff_choice *c)
{
    if ((double)section_moment_diff_size(d->list.data[i].bytes) < c->least)
        return false;
    return c->limit == 0 || (i < c->grown ? i < c->limit : d->list.count - i <= c->limit);
}

/* The list begins with what has grown most and ends with what has shrunk most: whichever of the two that are left has
 * moved further is next. */
struct section_moment_diff_walk {
    size_t front, behind; /* list[front .. behind - 1] is still to come */
};

static bool section_moment_diff_next(const struct drift *d, struct section_moment_diff_walk *w, size_t *i)
{
    if (w->front == w->behind)
        return false;
    uint64_t first = section_moment_diff_size(d->list.data[w->front].bytes);
    uint64_t last = section_moment_diff_size(d->list.data[w->behind - 1].bytes);
    *i = first >= last ? w->front++ : --w->behind;
    return true;
}

static void section_moment_diff_row(struct table *t, const struct drift_site *s)
{
    char a[UNITS_MAX], cell[UNITS_MAX + 8];
    snprintf(cell, sizeof cell, "%s%s", section_moment_diff_sign(s->bytes),
             units_bytes(a, section_moment_diff_size(s->bytes)));
    table_add(t, cell);
    snprintf(cell, sizeof cell, "%s%sx", section_moment_diff_sign(s->blocks),
             units_count(a, section_moment_diff_size(s->blocks)));
    table_add(t, cell);
    table_add(t, "");
}

static void section_moment_diff_site(struct page *p, const struct traces *c, const struct table *t,
                                     size_t row, uint32_t trace)
{
    size_t indent = table_indent(t), left = p->width > indent + 10 ? p->width - indent : 10;
    table_print_row(t, p, row);
    callers_print_lead(p, c, trace, left);
    page_end_line(p);
    callers_print_line(p, c, trace, indent > 12 ? 12 : indent, false);
}

void section_moment_diff_text(struct page *p, const struct section_moment_diff *s)
{
    const struct drift *d = s->drift;
    struct section_moment_diff_choice choice = section_moment_diff_choose(s);
    struct table t;
    char a[UNITS_MAX], b[UNITS_MAX];
    struct section_moment_diff_walk walk = {0, d->list.count}, again = walk;
    size_t row = 0, at;
    page_add(p, COLOUR_TITLE, "Change of what is live");
    page_addf(p, COLOUR_PLAIN, " %s: %s%s in %s%s blocks\n", s->title, section_moment_diff_sign(d->bytes),
              units_bytes(a, section_moment_diff_size(d->bytes)), section_moment_diff_sign(d->blocks),
              units_count(b, section_moment_diff_size(d->blocks)));
    table_init(&t, 3);
    while (section_moment_diff_next(d, &walk, &at)) {
        if (section_moment_diff_is_shown(d, at, &choice))
            section_moment_diff_row(&t, &d->list.data[at]);
    }
    while (!t.failed && section_moment_diff_next(d, &again, &at)) {
        if (section_moment_diff_is_shown(d, at, &choice))
            section_moment_diff_site(p, s->traces, &t, row++, d->list.data[at].trace);
    }
    p->out->failed |= t.failed;
    if (row < d->list.count)
        page_addf(p, COLOUR_QUIET, "  and %s other site%s\n", units_count(a, d->list.count - row),
                  d->list.count - row == 1 ? "" : "s");
    table_release(&t);
}

void section_moment_diff_json(struct json *j, const struct section_moment_diff *s)
{
    const struct drift *d = s->drift;
    struct section_moment_diff_choice choice = section_moment_diff_choose(s);
    json_open_object(j, "change");
    json_add_signed(j, "total_bytes", d->bytes);
    json_add_signed(j, "total_blocks", d->blocks);
    json_add_number(j, "site_count", d->list.count);
    json_open_array(j, "sites");
    for (size_t i = 0; i < d->list.count; i++) {
        const struct drift_site *one = &d->list.data[i];
        if (!section_moment_diff_is_shown(d, i, &choice))
            continue;
        json_open_object(j, NULL);
        json_add_signed(j, "bytes", one->bytes);
        json_add_signed(j, "blocks", one->blocks);
        frames_json_trace(j, "frames", s->traces, one->trace);
        json_close_object(j);
    }
    json_close_array(j);
    json_close_object(j);
}

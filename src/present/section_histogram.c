/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_histogram: see section_histogram.h.
 */
#include "present/section_histogram.h"

#include "present/table.h"
#include "present/units.h"

#include <stdio.h>

enum { HISTOGRAM_BAR = 30 };

static uint64_t histogram_from(unsigned bucket)
{
    return bucket == 0 ? 0 : UINT64_C(1) << (bucket - 1);
}

static uint64_t histogram_to(unsigned bucket)
{
    return bucket == 0 ? 0 : bucket == 64 ? UINT64_MAX : (UINT64_C(1) << bucket) - 1;
}

static void histogram_bar(struct page *p, char *bar, size_t size, uint64_t part, uint64_t most)
{
    size_t cells = most == 0 ? 0 : (size_t)((double)part / (double)most * HISTOGRAM_BAR + 0.5), used = 0;
    if (part > 0 && cells == 0)
        cells = 1;
    bar[0] = '\0';
    for (size_t i = 0; i < cells && used + 4 < size; i++)
        used += (size_t)snprintf(bar + used, size - used, "%s", p->unicode ? "█" : "#");
}

/* Recordings have one time for what is less than a microsecond apart: where nothing follows, that is what is known of
 * lives without length; else that they are shorter than those that do. */
static void histogram_add_shortest(struct table *t, const struct query_histogram *h)
{
    char a[UNITS_MAX], cell[UNITS_MAX + 8];
    unsigned next = 1;
    while (next < HISTOGRAM_BUCKETS && h->blocks[next] == 0)
        next++;
    snprintf(cell, sizeof cell, "under %s",
             units_time(a, next == HISTOGRAM_BUCKETS ? 1000 : histogram_from(next)));
    table_add(t, cell);
}

static void histogram_row(struct page *p, struct table *t, enum section_histogram which,
                          const struct query_histogram *h, unsigned bucket, uint64_t most)
{
    char a[UNITS_MAX], bar[HISTOGRAM_BAR * 4 + 4];
    if (which == HISTOGRAM_LIFETIMES && bucket == 0)
        histogram_add_shortest(t, h);
    else
        table_add(t, which == HISTOGRAM_SIZES ? units_bytes(a, histogram_from(bucket))
                                              : units_time(a, histogram_from(bucket)));
    table_add(t, units_count(a, h->blocks[bucket]));
    table_add(t, units_bytes(a, h->bytes[bucket]));
    histogram_bar(p, bar, sizeof bar, h->blocks[bucket], most);
    table_add(t, bar);
}

void section_histogram_text(struct page *p, enum section_histogram which, const struct query_histogram *h)
{
    struct table t;
    uint64_t most = 0;
    unsigned first = HISTOGRAM_BUCKETS, last = 0;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (h->blocks[i] == 0)
            continue;
        most = h->blocks[i] > most ? h->blocks[i] : most;
        first = first == HISTOGRAM_BUCKETS ? i : first;
        last = i;
    }
    page_add(p, COLOUR_TITLE, which == HISTOGRAM_SIZES ? "Sizes" : "Lifetimes of freed blocks");
    page_add(p, COLOUR_PLAIN, most == 0 ? ": nothing\n" : "\n");
    if (most == 0)
        return;
    table_init(&t, 4);
    table_add(&t, "from");
    table_add(&t, "blocks");
    table_add(&t, "bytes");
    table_add(&t, "");
    bool in_row = false; /* empty stretches between others are shown, not those before */
    for (unsigned i = first; i <= last; i++) {
        in_row |= i > 0 && h->blocks[i] != 0;
        if (i == 0 || in_row)
            histogram_row(p, &t, which, h, i, most);
    }
    table_print(&t, p);
    table_release(&t);
}

void section_histogram_json(struct json *j, enum section_histogram which, const struct query_histogram *h)
{
    json_open_array(j, which == HISTOGRAM_SIZES ? "sizes" : "lifetimes");
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (h->blocks[i] == 0)
            continue;
        json_open_object(j, NULL);
        json_add_number(j, "from", histogram_from(i));
        json_add_number(j, "to", histogram_to(i));
        json_add_number(j, "blocks", h->blocks[i]);
        json_add_number(j, "bytes", h->bytes[i]);
        json_close_object(j);
    }
    json_close_array(j);
}

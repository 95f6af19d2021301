/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * plot: see plot.h.
 *
 * Each column of the page is a stretch of time and shows the highest level in
 * it.  A tick reaches to the beginning of the next; a column that lies within one
 * tick shows that tick.
 */
#include "present/plot.h"

#include "present/units.h"
#include "tool/memory.h"

#include <stdlib.h>
#include <string.h>

enum { PLOT_LABEL = 10, PLOT_MARGIN = 4, PLOT_STEPS = 8, PLOT_TICKS_MIN = 2 };

/* The highest level of each column. */
static void plot_fill(uint64_t *levels, size_t columns, const struct query_tick *ticks, size_t count,
                      uint64_t end_ns)
{
    uint64_t begin = ticks[0].from_ns, span = end_ns - begin;
    for (size_t i = 0; i < count; i++) {
        uint64_t from = ticks[i].from_ns, to = i + 1 < count ? ticks[i + 1].from_ns : end_ns;
        if (from < begin || from > end_ns)
            continue;
        size_t a = (size_t)((double)(from - begin) / (double)span * (double)columns);
        size_t b = to <= from ? a : (size_t)((double)(to - begin) / (double)span * (double)columns);
        a = a >= columns ? columns - 1 : a;
        for (size_t x = a; x < columns && (x < b || x == a); x++) {
            if (ticks[i].live_bytes > levels[x])
                levels[x] = ticks[i].live_bytes;
        }
    }
}

/* How full cell `row` (0 = lowest) of a column is, in eighths; something is never nothing. */
static unsigned plot_cell(uint64_t level, uint64_t highest, size_t rows, size_t row)
{
    double steps = (double)level / (double)highest * (double)(rows * PLOT_STEPS);
    unsigned whole = (unsigned)(steps + 0.5);
    if (level > 0 && whole == 0)
        whole = 1;
    unsigned below = (unsigned)row * PLOT_STEPS;
    if (whole <= below)
        return 0;
    return whole - below > PLOT_STEPS ? PLOT_STEPS : whole - below;
}

static void plot_row(struct page *p, const uint64_t *levels, size_t columns, uint64_t highest, size_t rows,
                     size_t row)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {" ", ".", ".", ":", ":", ":", "#", "#", "#"};
    struct strbuf line;
    strbuf_init(&line);
    for (size_t x = 0; x < columns; x++) {
        unsigned full = plot_cell(levels[x], highest, rows, row);
        strbuf_add_text(&line, p->unicode ? blocks[full] : plain[full]);
    }
    while (line.length > 0 && line.text[line.length - 1] == ' ')
        strbuf_cut(&line, line.length - 1);
    page_add(p, COLOUR_PLACE, strbuf_get(&line));
    strbuf_release(&line);
}

static void plot_axis(struct page *p, size_t columns, uint64_t begin_ns, uint64_t end_ns, const char *caption)
{
    char from[UNITS_MAX], to[UNITS_MAX];
    const char *dash = p->unicode ? "─" : "-";
    strbuf_addf(p->out, "%*s ", PLOT_LABEL + 2, "");
    strbuf_add_text(p->out, p->unicode ? "└" : "+");
    for (size_t x = 0; x < columns; x++)
        strbuf_add_text(p->out, dash);
    page_end_line(p);
    units_time(from, begin_ns);
    units_time(to, end_ns);
    if (begin_ns == 0)
        strcpy(from, "0");
    if (strlen(from) + strlen(caption) + strlen(to) + 2 > columns)
        caption = "";
    size_t used = strlen(from) + strlen(caption) + strlen(to), space = columns > used ? columns - used : 2;
    page_addf(p, COLOUR_QUIET, "%*s%s%*s%s%*s%s", PLOT_LABEL + PLOT_MARGIN, "", from, (int)(space / 2), "",
              caption, (int)(space - space / 2), "", to);
    page_end_line(p);
}

void plot_print(struct page *p, const struct query_tick *ticks, size_t count, uint64_t end_ns, size_t rows,
                const char *caption)
{
    if (count < PLOT_TICKS_MIN || p->width < PLOT_LABEL + PLOT_MARGIN + 20 || rows == 0)
        return;
    size_t columns = p->width - PLOT_LABEL - PLOT_MARGIN - 2;
    uint64_t *levels = memory_new_zeroed(columns, sizeof *levels), highest = 0;
    if (levels == NULL || end_ns <= ticks[0].from_ns) {
        free(levels);
        return;
    }
    plot_fill(levels, columns, ticks, count, end_ns);
    for (size_t x = 0; x < columns; x++)
        highest = levels[x] > highest ? levels[x] : highest;
    for (size_t row = rows; highest != 0 && row-- > 0;) {
        char label[UNITS_MAX] = "";
        if (row + 1 == rows)
            units_rounded_bytes(label, highest);
        else if (row + 1 == (rows + 1) / 2 && rows > 2)
            units_rounded_bytes(label, (uint64_t)((double)highest * (double)(row + 1) / (double)rows));
        page_addf(p, COLOUR_QUIET, "  %*s %s", PLOT_LABEL, label, p->unicode ? "│" : "|");
        plot_row(p, levels, columns, highest, rows, row);
        page_end_line(p);
    }
    if (highest != 0)
        plot_axis(p, columns, ticks[0].from_ns, end_ns, caption);
    free(levels);
}

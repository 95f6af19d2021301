/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * table: see table.h.
 */
#include "present/table.h"

#include "present/width.h"
#include "tool/memory.h"

#include <stdlib.h>
#include <string.h>

enum { TABLE_GAP = 2 };

void table_init(struct table *t, size_t columns)
{
    memset(t, 0, sizeof *t);
    t->columns = columns;
}

void table_release(struct table *t)
{
    for (size_t i = 0; i < t->cells.count; i++)
        free(t->cells.data[i]);
    vec_release(&t->cells);
}

void table_add(struct table *t, const char *text)
{
    char *copy = memory_copy_text(text);
    size_t column = t->cells.count % t->columns, width = width_of(text);
    if (copy == NULL || !vec_push(&t->cells, copy)) {
        free(copy);
        t->failed = true;
        return;
    }
    if (width > t->widths[column])
        t->widths[column] = width;
}

size_t table_indent(const struct table *t)
{
    size_t indent = TABLE_GAP;
    for (size_t i = 0; i + 1 < t->columns; i++)
        indent += t->widths[i] + TABLE_GAP;
    return indent;
}

void table_print_row(const struct table *t, struct page *p, size_t row)
{
    strbuf_addf(p->out, "%*s", TABLE_GAP, "");
    for (size_t i = 0; i + 1 < t->columns && !t->failed; i++) {
        const char *cell = t->cells.data[row * t->columns + i];
        strbuf_addf(p->out, "%*s%s%*s", (int)(t->widths[i] - width_of(cell)), "", cell, TABLE_GAP, "");
    }
}

void table_print(const struct table *t, struct page *p)
{
    p->out->failed |= t->failed;
    size_t indent = table_indent(t), left = p->width > indent ? p->width - indent : 1;
    for (size_t row = 0; !t->failed && (row + 1) * t->columns <= t->cells.count; row++) {
        table_print_row(t, p, row);
        const char *last = t->cells.data[row * t->columns + t->columns - 1];
        enum colour colour = row == 0 ? COLOUR_QUIET : COLOUR_PLAIN;
        if (t->has_names)
            page_add_name(p, colour, last, left);
        else if (t->has_paths)
            page_add_path(p, colour, last, left);
        else
            page_add_short(p, colour, last, left);
        page_end_line(p);
    }
}

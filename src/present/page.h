/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * page: what a text report is written on: so many columns, with or without
 * colour, with or without characters beyond ASCII.
 */
#ifndef HW_PRESENT_PAGE_H
#define HW_PRESENT_PAGE_H

#include "present/colour.h"
#include "tool/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

struct page {
    struct strbuf *out;
    size_t width; /* columns; lines are never longer */
    bool colour, unicode;
};

/* Adds text in a colour.  It must be safe. */
void page_add(struct page *p, enum colour colour, const char *text);
void page_addf(struct page *p, enum colour colour, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds a sentence, in as many lines as it takes, the later ones begun with so many spaces; `used`: columns of the line
 * that are taken.  A word that is longer than a line goes on in the next, a path behind a slash.  Returns the columns
 * that are taken then. */
size_t page_add_wrapped(struct page *p, enum colour colour, const char *text, size_t used, size_t indent);
/* A line with a label, in so many columns, and a text that is wrapped behind them. */
void page_add_labelled(struct page *p, enum colour colour, const char *label, size_t columns,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Adds text in at most so many columns (width_add); returns those used. */
size_t page_add_short(struct page *p, enum colour colour, const char *text, size_t columns);
/* The same for names of functions (width_add_name). */
size_t page_add_name(struct page *p, enum colour colour, const char *name, size_t columns);
/* The same for paths (width_add_path). */
size_t page_add_path(struct page *p, enum colour colour, const char *path, size_t columns);
void page_end_line(struct page *p);
/* Breaks the lines that have become longer than the page, between words where there are any. */
void page_fit(struct page *p);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * table: columns that line up.
 *
 *     struct table t;
 *     table_init(&t, 3);              the last column is a text and takes what is left
 *     table_add(&t, "12.0 KiB"); table_add(&t, "3.1 %"); table_add(&t, "main");
 *     table_print(&t, page);
 *
 * All columns but the last are right-aligned and as wide as their widest cell;
 * the last is left-aligned and shortened in the middle where the page ends, or as names of functions or paths are.
 */
#ifndef HW_PRESENT_TABLE_H
#define HW_PRESENT_TABLE_H

#include "present/page.h"
#include "tool/vec.h"

#include <stddef.h>

enum { TABLE_COLUMNS_MAX = 8 };

struct table {
    size_t columns;
    VEC(char *) cells; /* row by row */
    size_t widths[TABLE_COLUMNS_MAX];
    bool has_names; /* the last column has names of functions */
    bool has_paths; /* or of files */
    bool failed;    /* no memory: the page fails too */
};

void table_init(struct table *t, size_t columns);
void table_release(struct table *t);
/* The next cell; text must be safe and is copied. */
void table_add(struct table *t, const char *text);
/* The width of all columns but the last, with the spaces between and behind them. */
size_t table_indent(const struct table *t);
/* Prints the row's columns but the last; the caller prints that. */
void table_print_row(const struct table *t, struct page *p, size_t row);
/* Prints everything; the first row is a heading. */
void table_print(const struct table *t, struct page *p);

#endif

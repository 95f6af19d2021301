/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * frames: how a frame of a stack is printed.
 *
 *     Kitchen<>::file_receipt  kitchen.cc:49
 *     libssl.so.3+0x1b2c4
 *
 * On a page, names lose result type, parameters and what is between < and >;
 * files lose their folders.  In JSON a frame has everything.
 */
#ifndef HW_PRESENT_FRAMES_H
#define HW_PRESENT_FRAMES_H

#include "analysis/trace.h"
#include "present/json.h"
#include "present/page.h"

#include <stddef.h>

/* The short name of a function, safe: "a::b<>::c". */
void frames_add_name(struct strbuf *out, const struct frame *f);
/* "kitchen.cc:49", the file alone without a line, "" when nothing is known; safe. */
void frames_add_place(struct strbuf *out, const struct frame *f);

/* Prints name and place in at most `columns`; returns how many were used.  Lead:
 * it is what the line is about. */
size_t frames_print(struct page *p, const struct frame *f, size_t columns, bool lead);

/* The callers of a trace that say something (libraries and the start of the
 * program do not), on one line as far as they fit: " < serve  a.c:5 < main". */
size_t frames_print_callers(struct page *p, const struct traces *c, uint32_t trace, size_t columns);

/* function, file, line, module, address, inlined */
void frames_json_members(struct json *j, const struct frame *f);
/* "frames": [...], the innermost first. */
void frames_json_trace(struct json *j, const char *key, const struct traces *c, uint32_t trace);

#endif

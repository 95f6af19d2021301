/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * markup: foreign texts inside XML and Markdown.
 */
#ifndef HW_PRESENT_MARKUP_H
#define HW_PRESENT_MARKUP_H

#include "tool/strbuf.h"

/* Text for XML, in attributes as well as between tags.  It must be safe (safe.h): then it holds no character
 * that XML forbids.  Line breaks stay. */
void markup_add_xml(struct strbuf *out, const char *text);
/* Text inside `code` in a cell of a Markdown table: without back quotes and bars. */
void markup_add_code(struct strbuf *out, const char *text);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * width: how many columns a text takes on a terminal, and how to make it take
 * fewer.  Texts are UTF-8 that has been made safe (safe.h).
 */
#ifndef HW_PRESENT_WIDTH_H
#define HW_PRESENT_WIDTH_H

#include "tool/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

size_t width_of(const char *text);
/* Bytes of text that fit in so many columns; *used gets how many they take. */
size_t width_fit(const char *text, size_t length, size_t columns, size_t *used);

/* Adds text; where it is wider than columns, its middle gives way to a mark
 * (an ellipsis with unicode, two dots without): both ends of a name tell more
 * than its middle, and the last part most.  Returns the columns used. */
size_t width_add(struct strbuf *out, const char *text, size_t columns, bool unicode);
/* The same for the name of a function: its outer scopes give way, as many as it takes; only where its last part alone
 * is wider than columns does that lose its middle. */
size_t width_add_name(struct strbuf *out, const char *name, size_t columns, bool unicode);
/* The same for a path: its outer folders give way; only where its last part alone is wider than columns does that
 * lose its middle. */
size_t width_add_path(struct strbuf *out, const char *path, size_t columns, bool unicode);
/* The same for a text that tells most at its beginning: the end gives way. */
size_t width_add_begin(struct strbuf *out, const char *text, size_t columns, bool unicode);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * safe: the one way for a foreign string (path, command line, thread name) to
 * reach a terminal or a pipe.
 *
 * Well-formed UTF-8 passes.  Shown as escapes (\n, \t, \xNN, \u{NNNN}):
 * control bytes, the backslash, what is not UTF-8, C1 controls, bidi and
 * zero-width characters, line and paragraph separators, private use.
 */
#ifndef HW_PRESENT_SAFE_H
#define HW_PRESENT_SAFE_H

#include "tool/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

void safe_add(struct strbuf *out, const char *text, size_t length);
void safe_add_text(struct strbuf *out, const char *text);
/* The same for a command line, as a shell would read it: NUL between arguments becomes a space, and arguments
 * that need it are put in single quotes, or in $'...' where they have something to be escaped. */
void safe_add_command(struct strbuf *out, const char *args, size_t length);

/* The length of the UTF-8 sequence at text, 0 = not well-formed; *point gets
 * the character. */
size_t safe_decode(const char *text, size_t length, unsigned *point);

/* Characters from 0x7f on that change how others are shown, or are not shown at all. */
bool safe_is_hidden(unsigned point);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * closing: the one line at the end of a recording.
 */
#ifndef HW_CMD_CLOSING_H
#define HW_CMD_CLOSING_H

#include "collect/collector.h"
#include "tool/strbuf.h"

/* program: what was run, for the case that it never said hello; NULL = not known. */
void closing_build(struct strbuf *out, const struct collector *c, const char *program);

#endif

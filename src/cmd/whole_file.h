/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * whole_file: a text that a command writes beside its output.
 */
#ifndef HW_CMD_WHOLE_FILE_H
#define HW_CMD_WHOLE_FILE_H

#include "tool/err.h"
#include "tool/strbuf.h"

/* Writes all of it, or leaves what was there.  Negative: the sentence is in err. */
int whole_file_write(const char *path, const struct strbuf *text, struct err *err);

#endif

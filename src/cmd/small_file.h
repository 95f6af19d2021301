/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * small_file: a text that people wrote, read whole.
 */
#ifndef HW_CMD_SMALL_FILE_H
#define HW_CMD_SMALL_FILE_H

#include "tool/err.h"

#include <stddef.h>

/* The text of a file of at most 16 MiB, with a NUL behind it; the caller frees it.  what: "a list of suppressions", for the
 * sentence.  NULL: the sentence is in err (ERR_ABSENT, ERR_IO, ERR_INPUT, ERR_LIMIT, ERR_MEMORY). */
char *small_file_read(const char *path, const char *what, size_t *length, struct err *err);

#endif

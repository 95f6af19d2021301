/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * parts: files on a command line, those of one series (store/series.h) together.
 */
#ifndef HW_CMD_PARTS_H
#define HW_CMD_PARTS_H

#include "tool/err.h"
#include "tool/vec.h"

#include <stddef.h>

struct parts {
    VEC(const char *) paths; /* recording after recording, the parts of each in their order */
    VEC(size_t) first;       /* of each recording in paths */
};

/* Recordings are in the order of their first file on the command line. */
int parts_init(struct parts *p, const char *const *files, size_t count, struct err *err);
void parts_release(struct parts *p);
/* How many files recording i has; they begin at paths.data[first.data[i]]. */
size_t parts_count(const struct parts *p, size_t i);

#endif

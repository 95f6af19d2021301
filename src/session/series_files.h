/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * series_files: files on a command line, those of one series (store/series.h) together.
 */
#ifndef HW_SESSION_SERIES_FILES_H
#define HW_SESSION_SERIES_FILES_H

#include "tool/err.h"
#include "tool/vec.h"

#include <stddef.h>

struct series_files {
    VEC(const char *) paths; /* recording after recording, the parts of each in their order */
    VEC(size_t) first;       /* of each recording in paths */
};

/* Recordings are in the order of their first file on the command line. */
int series_files_init(struct series_files *p, const char *const *files, size_t count, struct err *err);
void series_files_release(struct series_files *p);
/* How many files recording i has; they begin at paths.data[first.data[i]]. */
size_t series_files_count(const struct series_files *p, size_t i);

#endif

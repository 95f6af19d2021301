/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * worst: of many recordings (the ranks of a job) the one that stands out.
 */
#ifndef HW_CMD_WORST_H
#define HW_CMD_WORST_H

#include "tool/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum worst {
    WORST_NONE = 0,
    WORST_RSS,    /* largest resident set of one process */
    WORST_PEAK,   /* highest peak of the heap */
    WORST_LEAKED, /* most bytes never freed */
};

/* WORST_NONE: no such word. */
enum worst worst_find(const char *word);
/* "the largest resident set" */
const char *worst_describe(enum worst what);
/* Which of the files it is; *value gets how much.  ERR_INPUT: none of them can be read.
 * Those that cannot are named on standard error and passed over. */
int worst_pick(enum worst what, const char *const *files, size_t count, size_t *which, uint64_t *value,
               struct err *err);

#endif

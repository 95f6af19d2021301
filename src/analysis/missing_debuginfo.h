/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * missing_debuginfo: the files whose code allocates in lines that nobody knows: what is
 * to be given debug information before a report tells all it could.
 */
#ifndef HW_ANALYSIS_MISSING_DEBUGINFO_H
#define HW_ANALYSIS_MISSING_DEBUGINFO_H

#include "analysis/trace.h"
#include "engine/result.h"
#include "tool/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Files of one name in several folders are one. */
struct missing_debuginfo_module {
    const char *path; /* of those the one with most; the traces' */
    const char *name; /* without its folders */
    uint64_t bytes;
};

struct missing_debuginfo {
    VEC(struct missing_debuginfo_module) modules; /* the worst first */
    uint64_t bytes;                               /* of all of them */
};

/* Is the file one that packages of the system install, which have debug information of their own? */
bool missing_debuginfo_is_packaged(const struct missing_debuginfo_module *m);
/* Adds up what was allocated where the program's own frame is in a file and has no line; *n is zeroed before.
 * ERR_MEMORY. */
int missing_debuginfo_find(struct missing_debuginfo *n, struct traces *c, const struct query_result *answer,
                           struct err *err);
/* Accepts a zeroed one. */
void missing_debuginfo_release(struct missing_debuginfo *n);

#endif

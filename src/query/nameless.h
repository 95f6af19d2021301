/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * nameless: the files whose code allocates in lines that nobody knows: what is
 * to be given debug information before a report tells all it could.
 */
#ifndef HW_QUERY_NAMELESS_H
#define HW_QUERY_NAMELESS_H

#include "query/result.h"
#include "query/trace.h"
#include "tool/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Files of one name in several folders are one. */
struct nameless_module {
    const char *path; /* of those the one with most; the traces' */
    const char *name; /* without its folders */
    uint64_t bytes;
};

struct nameless {
    VEC(struct nameless_module) modules; /* the worst first */
    uint64_t bytes;                      /* of all of them */
};

/* Is the file one that packages of the system install, which have debug information of their own? */
bool nameless_is_packaged(const struct nameless_module *m);
/* Adds up what was allocated where the program's own frame is in a file and has no line; *n is zeroed before.
 * ERR_MEMORY. */
int nameless_find(struct nameless *n, struct traces *c, const struct query_result *answer, struct err *err);
/* Accepts a zeroed one. */
void nameless_release(struct nameless *n);

#endif

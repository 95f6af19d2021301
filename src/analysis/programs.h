/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * programs: what processes of several programs leak, where a script has started dozens of them: the program of the process that leaks most has
 * a site for each leak, and each of the others is summed, or a shell and its helpers would fill the list.
 */
#ifndef HW_ANALYSIS_PROGRAMS_H
#define HW_ANALYSIS_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/site.h"
#include "analysis/trace.h"
#include "engine/result.h"
#include "tool/err.h"
#include "tool/vec.h"

struct program {
    const char *path; /* the reader's */
    uint64_t bytes, blocks;
    size_t processes; /* that leak */
};

struct programs {
    struct sites leading;       /* sites of that program; their `total` is that of all */
    VEC(struct program) others; /* the worst first */
    bool is_split;              /* false: there are few processes, or one program; nothing else is set */
};

void programs_init(struct programs *p);
void programs_release(struct programs *p);

/* all: the sites of the answer.  The program that leads is that of the process that leaks most.  ERR_MEMORY. */
int programs_split(struct programs *p, struct traces *c, const struct query_result *answer,
                   const struct sites *all, struct err *err);

#endif

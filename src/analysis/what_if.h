/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * what_if: the peak of a process if some allocations had not been made, or had
 * been freed earlier.
 *
 * Freed earlier by some time means: every block of these stacks that was freed dies so
 * much sooner, but not before it is born; one that lived no longer than that is as
 * good as not made.  What was never freed stays.
 */
#ifndef HW_ANALYSIS_WHAT_IF_H
#define HW_ANALYSIS_WHAT_IF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/query.h"
#include "store/reader.h"
#include "tool/err.h"
#include "tool/vec.h"

/* What is done without: "function~^parse", "source~json", "module~libssl"; all of a stack's frames are
 * looked at. */
struct what_if {
    VEC(struct query *) without; /* a query each, for its pattern */
    bool has_earlier;
    uint64_t earlier_ns; /* has_earlier: freed so much sooner; else not made at all */
};

void what_if_init(struct what_if *w);
void what_if_release(struct what_if *w);
/* Adds FIELD~REGEX; a regex alone is about functions.  ERR_USAGE, ERR_MEMORY. */
int what_if_add(struct what_if *w, const char *text, struct err *err);

struct what_if_peak {
    uint64_t bytes, blocks, time_ns;
    uint32_t process;
};

struct what_if_answer {
    struct what_if_peak was, would_be; /* each of the process with the highest */
    uint64_t matched_blocks, matched_bytes;
};

/* Adds a process to an answer, zeroed before the first.  q: for names, progress and interrupt.  ERR_LIMIT: too many
 * blocks would be freed earlier to keep them in mind; ERR_USAGE, ERR_MEMORY. */
int what_if_read(const struct what_if *w, const struct query *q, struct wake_reader *r, uint32_t process,
                 struct what_if_answer *answer, struct err *err);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * level: how much a sentence of the collector matters, least first. What
 * HEAPWAKE_LOG asks for and everything above it is said.
 */
#ifndef HW_TOOL_LEVEL_H
#define HW_TOOL_LEVEL_H

enum level {
    LEVEL_TRACE, /* every round that read something */
    LEVEL_DEBUG, /* figures of a process that has ended: lanes, waits, anomalies */
    LEVEL_INFO,  /* processes that come, exec and go; files */
    LEVEL_WARN,  /* something is not as asked, and what is done instead */
    LEVEL_ERROR, /* something is lost */
    LEVEL_COUNT
};

/* A sentence for whoever looks after the collector. */
typedef void level_say_fn(void *of, enum level level, const char *sentence);

#endif

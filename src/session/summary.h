/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * summary: the sums over all processes of a recording that `info` shows.
 */
#ifndef HW_SESSION_SUMMARY_H
#define HW_SESSION_SUMMARY_H

#include "store/reader.h"

struct summary {
    size_t processes;
    uint64_t threads, runtime_ns, events;
    uint64_t allocations, frees, allocated_bytes;
    uint64_t peak_bytes, peak_blocks, peak_time_ns; /* of the process with the largest peak */
    size_t peak_process;                            /* which one */
    uint64_t leaked_blocks, leaked_bytes;
    uint64_t temporary_blocks, temporary_bytes;
    bool lacks_temporaries; /* of a culled process without an end: only its end would have known them */
    uint64_t stacks, cut_stacks;
    uint64_t lost_events; /* by the probe, by the writer, and in damaged parts */
    uint64_t unrecorded_processes;
    uint64_t unknown_frees, inherited_frees, implied_frees;
    uint64_t peak_rss_bytes;
    bool lacks_culled; /* of some process nothing counts them: it has no end */
    uint64_t cull_threshold_ns, culled_blocks, culled_bytes; /* lived too short to be among the events */
    uint64_t sample_rate, samples;     /* rate 0: every block was recorded; else sums are estimates */
    uint64_t off_ns;                   /* the longest that recording was switched off in a process */
    uint64_t limit_ns, limited_events; /* left out since the file has its size */
    bool complete;                     /* of the processes that are in it nothing is missing */
    bool is_whole;                     /* and no process is missing: what people are told */
    bool made_up;                      /* a process was imported from sums */
};

/* What is known of addresses. */
struct summary_names {
    size_t images;  /* files that somebody has looked for */
    size_t missing; /* ... and not found */
    size_t places;  /* addresses that have a name */
    size_t binaries;
    uint64_t binary_bytes;
};

void summary_gather(struct summary *f, const struct wake_reader *r);
/* Reads what the file says about names: may find damages. */
void summary_count_names(struct summary_names *f, struct wake_reader *r);
/* What the first process had become by exec when it ended. There must be one. */
const struct wake_process *summary_last_image(const struct wake_reader *r);
/* "killed by SIGKILL", "exit code 0", "exec", "not known". */
void summary_describe_end(const struct wake_process *p, char *text, size_t size);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * summary: what recordings hold, as sums over all their processes.
 *
 *     summary_init(&s)
 *     summary_add(&s, reader, &err)      as often as there are recordings
 *     summary_release(&s)
 */
#ifndef HW_SESSION_SUMMARY_H
#define HW_SESSION_SUMMARY_H

#include "engine/query.h"
#include "store/reader.h"
#include "tool/err.h"
#include "tool/vec.h"

struct summary {
    size_t files; /* recordings */
    size_t processes;
    const char *args; /* of the first process, NUL between arguments; NULL: there is none */
    size_t args_length;
    char end[64]; /* what became of the first process: "exit code 0" */
    uint64_t threads, runtime_ns, events;
    uint64_t allocations, frees, allocated_bytes;
    uint64_t peak_bytes, peak_blocks, peak_time_ns; /* of the process with the largest peak */
    uint32_t peak_pid;                              /* which one */
    uint64_t leaked_blocks, leaked_bytes;
    uint64_t temporary_blocks, temporary_bytes;
    bool lacks_temporaries; /* of a culled process without an end: only its end would have known them */
    uint64_t stacks, cut_stacks;
    uint64_t lost_events;          /* by the probe, by the writer, and in damaged parts */
    uint64_t unrecorded_processes; /* ran meanwhile, and nothing is known of them */
    uint64_t unknown_frees;        /* of what was not live: freed already, or never allocated */
    uint64_t inherited_frees, implied_frees;
    uint64_t peak_rss_bytes; /* 0: not known */
    bool lacks_culled;       /* of some process nothing counts them: it has no end */
    uint64_t cull_threshold_ns, culled_blocks, culled_bytes; /* lived too short to be among the events */
    uint64_t sample_rate, samples;     /* rate 0: every block was recorded; else sums are estimates */
    uint64_t off_ns;                   /* the longest that recording was switched off in a process */
    uint64_t limit_ns, limited_events; /* left out since the file has its size */
    bool complete;                     /* of the processes that are in it nothing is missing */
    bool made_up;            /* a process was imported from sums: nothing is known of single blocks */
    VEC(const char *) notes; /* sentences that the recordings have about themselves, each once; at most 100 */
};

/* What people are told: no process is missing either. */
static inline bool summary_is_whole(const struct summary *s)
{
    return s->complete && s->unrecorded_processes == 0;
}

/* What is known of addresses. */
struct summary_names {
    size_t images;  /* files that somebody has looked for */
    size_t missing; /* ... and not found */
    size_t places;  /* addresses that have a name */
    size_t binaries;
    uint64_t binary_bytes;
};

void summary_init(struct summary *s);
void summary_release(struct summary *s);
/* Texts are the reader's.  ERR_MEMORY. */
int summary_add(struct summary *s, const struct wake_reader *r, struct err *err);
/* Of one recording, without its notes; nothing to release. */
void summary_gather(struct summary *s, const struct wake_reader *r);
/* The same of the processes alone that a query chooses (its pids); NULL: all. */
void summary_gather_chosen(struct summary *s, const struct wake_reader *r, const struct query *q);
/* Reads what the file says about names: may find damages. */
void summary_count_names(struct summary_names *s, struct wake_reader *r);
/* What the first process had become by exec when it ended. There must be one. */
const struct wake_process *summary_last_image(const struct wake_reader *r);
/* "killed by SIGKILL", "exit code 0", "exec", "not known". */
void summary_describe_end(const struct wake_process *p, char *text, size_t size);

#endif

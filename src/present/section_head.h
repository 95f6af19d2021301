/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_head: the first lines of a report: what ran, and the figures that
 * matter.  JSON: "summary".
 */
#ifndef HW_PRESENT_SECTION_HEAD_H
#define HW_PRESENT_SECTION_HEAD_H

#include "present/json.h"
#include "present/page.h"
#include "query/nameless.h"
#include "tool/vec.h"

#include <stddef.h>
#include <stdint.h>

struct section_head {
    const char *args; /* of the first process, NUL between arguments */
    size_t args_length;
    const char *end; /* "exit code 0" */
    size_t files, processes;
    uint64_t threads, runtime_ns;
    uint64_t allocations, frees, allocated_bytes;
    uint64_t peak_bytes, peak_blocks, peak_time_ns;
    uint32_t peak_pid;
    uint64_t leaked_bytes, leaked_blocks;         /* all, suppressed ones too */
    uint64_t suppressed_bytes, suppressed_blocks; /* of those */
    uint64_t temporary_blocks;
    bool lacks_temporaries;  /* of some process that was culled and has no end */
    uint64_t peak_rss_bytes; /* 0 = not known */
    uint64_t lost_events, stacks, cut_stacks;
    uint64_t off_ns;               /* the longest that recording was switched off in a process */
    uint64_t unrecorded_processes; /* ran meanwhile, and nothing is known of them */
    uint64_t unknown_frees;        /* of what was not live: freed already, or never allocated */
    bool lacks_culled;             /* of some process that has no end */
    uint64_t cull_threshold_ns, culled_blocks, culled_bytes; /* threshold 0 = nothing was culled */
    uint64_t sample_rate, samples;                           /* rate 0 = every block was recorded */
    uint64_t limit_ns, limited_events; /* events that the size of the file has left out */
    uint64_t omitted_blocks;           /* of these, none is in the lists that follow */
    uint64_t timeline_omitted_blocks;  /* nor in the timeline */
    uint64_t releases_without_stack;   /* nor what these released: stacks of releases are asked for */
    bool complete;
    bool made_up;                    /* imported from sums: nothing is known of single blocks */
    VEC(const char *) notes;         /* sentences that the recordings have about themselves, each once */
    const char *conditions;          /* that what follows meets, as they were given, a NUL behind each word */
    size_t conditions_length;        /* 0 = none */
    const struct nameless *nameless; /* files whose own frames have no lines; NULL = none */
    const char *nameless_remark;     /* a sentence about one whose file has gone or is another; NULL = none */
};

void section_head_text(struct page *p, const struct section_head *h);
void section_head_json(struct json *j, const struct section_head *h);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * result: the answer to a query, as numbers; names are attached later, for the
 * rows that are shown.
 *
 * A row is what a query found about one stack of one process (and, when the
 * query is split that way, one thread or one kind of allocation).  Rows
 * of a result add up to its `total`, to the byte, in every metric except the
 * lifetimes.
 *
 * The peak of several processes is that of the process whose own peak is the
 * highest (they share no heap): `peak_process`; rows of the others have 0 there,
 * unless the query asks for each_peak: then every row has what it held at the peak of
 * its own process, and `total` has that of the highest.
 */
#ifndef HW_ENGINE_RESULT_H
#define HW_ENGINE_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/vec.h"

/* A median cannot be made of medians: that of several rows with freed blocks is not known. */
#define METRICS_NO_MEDIAN UINT64_MAX

/* What blocks that match the query did.  "blocks" are allocations. */
struct metrics {
    uint64_t allocated_blocks, allocated_bytes;
    uint64_t freed_blocks, freed_bytes;
    uint64_t peak_blocks, peak_bytes; /* live when the matched bytes were at their highest */
    /* Live at the query's moment (its end unless it says); a process that had ended by then has nothing. */
    uint64_t live_blocks, live_bytes;
    uint64_t leaked_blocks, leaked_bytes;       /* never freed */
    uint64_t temporary_blocks, temporary_bytes; /* freed by the same thread almost at once */
    uint64_t slack_bytes;                       /* usable size beyond what was asked for, of all allocated */
    uint64_t lifetime_min_ns, lifetime_max_ns;  /* of freed blocks; 0 and 0 = none */
    uint64_t lifetime_median_ns; /* within 1 %; 0 = none or not asked for; or METRICS_NO_MEDIAN */
    uint64_t first_ns, last_ns;  /* first and last allocation */
};

struct query_row {
    uint32_t process; /* index in the recording */
    uint32_t stack;   /* number in its process; 0 = no stack */
    uint32_t thread;  /* number in its process; 0 unless split by thread */
    uint32_t kind;    /* enum record_kind; 0 unless split by kind */
    struct metrics m;
};

/* When a process was at its peak. */
struct query_peak {
    uint32_t process;
    uint64_t time_ns;
};

/* A stretch of time.  Levels are the highest in it; counts are sums.  Of several
 * processes the highest levels of those are added that are there at once (engine/overlap.h). */
struct query_tick {
    uint64_t from_ns; /* up to that of the next tick */
    uint64_t live_bytes, live_blocks;
    uint64_t rss_bytes; /* 0 = no sample */
    uint64_t allocations, frees, allocated_bytes;
};

enum { HISTOGRAM_BUCKETS = 65 };

/* Bucket 0: value 0; bucket n: 2^(n-1) <= value < 2^n. */
struct query_histogram {
    uint64_t blocks[HISTOGRAM_BUCKETS];
    uint64_t bytes[HISTOGRAM_BUCKETS];
};

struct query_result {
    VEC(struct query_row) rows; /* in no order */
    struct metrics total;
    uint32_t peak_process;
    uint64_t peak_time_ns;
    uint32_t processes;           /* that were asked about */
    bool each_peak;               /* as the query asked */
    VEC(struct query_peak) peaks; /* empty unless it did */
    uint64_t peak_rss_bytes, peak_rss_time_ns;
    uint64_t from_ns, to_ns, moment_ns; /* the window and the moment of live_*, as they were understood */
    uint64_t
        later_ns; /* a moment behind the end of the recording was taken as this, its end; 0 = there was none */
    VEC(struct query_tick) timeline; /* empty unless asked for */
    /* The timeline is made of chunk headers, for those processes that have enough of them: a level may
     * show in the tick after it too, and allocated_bytes is not known. */
    bool timeline_is_rough;
    struct query_histogram sizes;     /* by size; zero unless asked for */
    struct query_histogram lifetimes; /* of freed blocks, by ns; zero unless asked for */
    /* Allocations that the recording knows only by count (culled, or beyond the size of the file)
     * and that are in none of these figures, because they had to be made from events. */
    uint64_t omitted_blocks;
    /* Of these, those that came when the file was full; and of those the ones that what is live at the moment does not
     * depend on. */
    uint64_t limited_blocks, later_blocks;
    uint64_t limit_ns; /* where the first file was full whose events were needed; 0: none was */
    bool fates_end;    /* there, although what became of blocks was asked for */
    /* The same of the timeline, which needs events where sums do not. */
    uint64_t timeline_omitted_blocks, timeline_limit_ns;
    bool timeline_has_culled; /* some of them were culled */
    /* Blocks of some process are not counted as temporary, because its events, of which these figures had to be made, do
     * not tell what a thread has allocated next (store/reader.h). */
    bool lacks_temporaries;
    /* Where the query asks for stacks of releases: releases of which that is not known.  What they
     * released matches no such condition. */
    uint64_t releases_without_stack;
    uint64_t events;  /* that were read for this answer; 0 = what was there already was enough */
    bool from_totals; /* rows of some process are the file's own totals: they have no times and no slack */
    bool interrupted; /* the user stopped it; the answer is about what was read until `read_until_ns` */
    uint64_t read_until_ns;
};

void query_result_init(struct query_result *r);
void query_result_release(struct query_result *r);

#endif

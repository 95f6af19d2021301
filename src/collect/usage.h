/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * usage: how the address space of a process is used, from samples of its smaps, for
 * those who have asked for it: while the kernel makes that file the process cannot
 * change its mappings, so nobody gets it unasked.
 *
 * The kernel joins mappings that are neighbours and alike, and tells one figure for them all.
 * So the ends of all mappings that the program told of are kept, and ranges are cut
 * there; what of each part is in memory is counted in the process's pagemap.
 * Ranges beyond USAGE_CUT_MAX are not cut, nor are any where that file cannot be read.
 * (A page that was only ever read, and never written, is resident there, and is not in smaps.)
 *
 * What has not changed since the sample before is not told again.
 */
#ifndef HW_COLLECT_USAGE_H
#define HW_COLLECT_USAGE_H

#include "collect/timebase.h"
#include "store/writer.h"
#include "tool/strbuf.h"
#include "tool/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    USAGE_RANGES_MAX = 1 << 17, /* of a sample; what is beyond is not told */
    USAGE_ENDS_MAX = 1 << 16,   /* ends of mappings that are kept */
};

#define USAGE_CUT_MAX (UINT64_C(4) << 30)

/* The ranges of one sample, by rising address; names are offsets in `names`. */
struct usage_sample {
    VEC(struct wake_usage) ranges;
    VEC(size_t) names_at;
    struct strbuf names;
};

struct usage {
    uint32_t pid;
    uint64_t period_ns; /* 0: nobody has asked for it */
    uint64_t next_ns;   /* CLOCK_MONOTONIC */
    bool is_due;        /* at somebody's wish, whatever the time */
    bool is_fresh;      /* the next sample is to tell everything */
    bool is_refused;    /* the system does not let us read it */
    bool is_said;       /* ... and that has been said */
    int pages;          /* descriptor of pagemap while a sample is taken, -1 = none */
    struct usage_sample now, last;
    VEC(uint64_t) ends; /* of mappings: addresses where a range may be cut */
    size_t sorted;      /* of these, how many are in order */
    VEC(struct wake_usage) changed;
};

void usage_init(struct usage *u, uint32_t pid, uint64_t period_ns);
void usage_release(struct usage *u);
/* The program has mapped or unmapped this. */
void usage_note(struct usage *u, uint64_t start, uint64_t length);
/* Takes a sample and writes what has changed.  is_still: whoever asked for it waits, so that
 * it is of one moment.  A process that is gone has nothing to tell, and nothing is written. */
void usage_take(struct usage *u, struct wake_writer *writer, uint32_t process, const struct timeline *line,
                bool is_still);

#endif

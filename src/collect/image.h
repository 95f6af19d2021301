/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * image: one program image of one process, from hello to its end: its
 * segment, everything that is drained from it, and its section of a
 * recording.  An exec ends an image and begins another with the same pid.
 */
#ifndef HW_COLLECT_IMAGE_H
#define HW_COLLECT_IMAGE_H

#include "collect/book.h"
#include "collect/drain.h"
#include "collect/order.h"
#include "collect/pair.h"
#include "collect/timebase.h"
#include "collect/view.h"
#include "store/writer.h"

#include <stdbool.h>
#include <stdint.h>

/* What it was in the end, for the closing line. */
struct image_end {
    struct wake_process_end process;
    uint64_t events;
    uint32_t stop_reason;      /* enum record_lost, 0 = none */
    uint64_t anomalies;        /* records that made no sense */
    uint64_t undefined_stacks; /* events without their stack */
    bool out_of_memory;        /* the collector's memory did not suffice */
};

struct image {
    struct view view;
    struct timeline line;
    long first_filters; /* procfs_status.filters at the first look */
    bool has_filters;
    struct book book;
    struct drain drain;
    struct pair pair;
    struct order order;
    struct wake_writer *writer;
    uint32_t process; /* index in the writer */
    uint32_t pid;     /* as the collector sees it */
    uint64_t tick_stamp, tick_step;
    uint64_t start_ns, next_sample_ns, next_status_ns; /* CLOCK_MONOTONIC */
    uint64_t peak_rss;
    bool failed; /* no memory: the segment is closed and nothing more is read */
};

/* Begins a section for a mapped segment; takes the view over.  NULL: no memory
 * (the view stays the caller's). */
struct image *image_new(struct view *view, struct wake_writer *writer, const struct timebase *time,
                        uint64_t base_ns, uint32_t pid, uint32_t parent);
/* Takes what has been published.  Returns the number of events. */
uint64_t image_drain(struct image *m);
/* Publishes the present stamp; samples RSS and looks for a seccomp filter when it is time. */
void image_tick(struct image *m, uint64_t now_ns);
/* Writes how the section is now, for a file that is about to be left. */
void image_pause(struct image *m, uint64_t now_ns);
/* Takes the last, ends the section, unmaps and frees.  peak_rss: from
 * elsewhere, 0 = not known.  gone: nobody writes any more. */
void image_end(struct image *m, int wait_status, bool execed, bool gone, uint64_t peak_rss, uint64_t end_ns,
               struct image_end *end);

#endif

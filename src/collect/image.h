/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * image: one program image of one process, from hello to its end: its
 * segment, everything that is drained from it, and its section of a
 * recording.  An exec ends an image and begins another with the same pid.
 */
#ifndef HW_COLLECT_IMAGE_H
#define HW_COLLECT_IMAGE_H

#include "collect/changes.h"
#include "collect/definitions.h"
#include "collect/drain.h"
#include "collect/order.h"
#include "collect/pace.h"
#include "collect/pair.h"
#include "collect/resident.h"
#include "collect/ticker.h"
#include "collect/timebase.h"
#include "collect/usage.h"
#include "collect/view.h"
#include "store/writer.h"
#include "tool/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* What it was in the end, for the closing line. */
struct image_end {
    struct wake_process_end process;
    uint64_t events;
    uint32_t stop_reason;      /* enum record_lost, 0 = none */
    uint32_t unhooked;         /* enum segment_unhooked */
    uint64_t anomalies;        /* records that made no sense */
    uint64_t undefined_stacks; /* events without their stack */
    bool out_of_memory;        /* the collector's memory did not suffice */
};

/* What the program asked for at a certain event, to be done when the round is over. */
struct image_request {
    enum record_mark mark;
    uint64_t number; /* for the answer, 0 = nobody waits */
    const char *name;
    struct changes_answer changes; /* MARK_REPORT */
};

struct image {
    struct view view;
    struct timeline line;
    long first_filters; /* procfs_status.filters at the first look */
    bool has_filters;
    struct definitions book;
    struct drain drain;
    struct pair pair;
    struct order order;
    struct wake_writer *writer;
    uint32_t process;      /* index in the writer */
    uint32_t pid;          /* as the collector sees it */
    struct ticker *ticker; /* the collector's; NULL: there is none */
    bool is_ticking;
    uint64_t start_ns, next_status_ns; /* CLOCK_MONOTONIC */
    struct resident resident;
    struct pace pace;
    uint64_t seen_asked;                 /* segment_head.asked, when events were last taken */
    uint64_t seen_waits, tight_until_ns; /* segment_head.waits, and until when a new one counts */
    uint64_t peak_rss;
    uint64_t usage_rest_ns;          /* CLOCK_MONOTONIC: no sample at marks before */
    struct usage usage;              /* of the address space, if somebody has asked for it */
    struct tracked_frees pass;       /* while recording is off */
    uint32_t control;                /* the segment's word as it was last seen */
    uint64_t fading_until_ns;        /* CLOCK_MONOTONIC */
    uint64_t fading_stamp;           /* when the fading was noticed */
    uint32_t wishes[SEGMENT_WISHES]; /* that have been heard */
    struct changes changes;
    VEC(struct image_request) requests;
    VEC(const char *) deep_libraries; /* that have a note */
    uint32_t reports;                 /* made so far */
    bool failed;                      /* no memory: the segment is closed and nothing more is read */
};

/* Begins a section for a mapped segment; takes the view over.  usage_ns: between samples of
 * the use of its address space, 0 = none.  NULL: no memory (the view stays the caller's). */
struct image *image_new(struct view *view, struct wake_writer *writer, const struct timebase *time,
                        uint64_t base_ns, uint32_t pid, uint32_t parent, uint64_t usage_ns);
/* Takes what has been published.  Returns the number of events. */
uint64_t image_drain(struct image *m);
/* Is it time to, or does somebody wait for it?  Whatever is done about the process meanwhile comes behind image_drain. */
bool image_is_due(struct image *m, uint64_t now_ns);
/* Has a thread found the buffers full of late? Then threads may wait again if nobody takes anything for long. */
bool image_is_tight(struct image *m, uint64_t now_ns);
/* Has the ticker advance the program's clock while there are many events without stamps of their own, and tells the
 * program when it no longer does.  Called by image_drain. */
void image_follow_pace(struct image *m);
/* Where the clock is all that the program has, advances it; samples RSS and looks for a seccomp filter when it is time. */
void image_tick(struct image *m, uint64_t now_ns);
/* A sample of how the address space is used, if that was asked for.  is_still: the program waits
 * for it. */
void image_sample_usage(struct image *m, uint64_t now_ns, bool is_still);
/* Writes how the section is now, for a file that is about to be left. */
void image_pause(struct image *m, uint64_t now_ns);
/* Recording on or off, at somebody's wish. */
void image_switch(struct image *m, bool on);
bool image_is_on(const struct image *m);
/* For good: nothing is told any more, at next to no cost for the program. */
void image_silence(struct image *m);
/* After each drain: follows switches, ends the fading. */
void image_follow(struct image *m, uint64_t now_ns);
/* A mark of the collector's own making. */
void image_mark(struct image *m, const char *name);
/* Has a wish been uttered that was not heard yet, or recording been switched, or is it about to end? */
bool image_is_wished(const struct image *m);
/* Times that a wish was uttered since this was last asked. */
uint32_t image_hear(struct image *m, enum segment_wish wish);
/* A request has been served; frees what it holds. */
void image_answer(struct image *m, struct image_request *request);
void image_answer_in(struct segment_head *head, uint64_t request);

/* Takes the last, ends the section, unmaps and frees.  peak_rss: from
 * elsewhere, 0 = not known.  gone: nobody writes any more; stopped: somebody does,
 * but that is not wanted any more. */
void image_end(struct image *m, int wait_status, bool execed, bool gone, bool stopped, uint64_t peak_rss,
               uint64_t end_ns, struct image_end *end);

#endif

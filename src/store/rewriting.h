/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rewriting: the inside of struct wake_rewrite, shared by the files that make up
 * the rewrite (rewrite, rewrite_meta, rewrite_names, rewrite_culled) and by rotate,
 * which repeats in a new file what was known.
 *
 * Failures to write, and of memory, are those of the writer: sticky.
 */
#ifndef HW_STORE_REWRITING_H
#define HW_STORE_REWRITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/annex.h"
#include "store/recording.h"
#include "store/rewrite.h"
#include "store/tail.h"
#include "store/writing.h"
#include "tool/file.h"
#include "tool/map.h"

struct wake_rewrite {
    struct file_new file; /* what has the final name in the end; until then the writer's is file.temp */
    struct wake_writer *w;
    struct rewrite_options options;
    struct wake_annex *annex; /* NULL: what is common to all processes goes to the writer */
    struct names *names;      /* of all sources */
    struct map binaries;      /* hash of build id and path of those that are there */
    uint32_t processes;
    bool is_closed;      /* all sources were, so far */
    struct tail_end end; /* sums of the sources' */
};

/* A recording that is copied; rotate has no rewrite. */
struct rewrite_source {
    struct wake_rewrite *rewrite;
    struct wake_writer *w;
    struct wake_reader *r;
    const struct rewrite_mask *mask; /* NULL: names as they are */
    uint64_t shift;                  /* added to every time */
    uint32_t base;                   /* number of its first process */
};

/* A time of the source on the new clock. */
uint64_t rewrite_time(const struct rewrite_source *x, uint64_t time_ns);
/* Has the caller been asked to stop?  Then *err says so. */
bool rewrite_is_stopped(const struct wake_rewrite *rw, struct err *err);
/* 0, or the failure of the writer and a sentence. */
int rewrite_code(const struct wake_rewrite *rw, struct err *err);

/* rewrite_meta.c: what is known of a process beside its events.  Threads, modules and pools always; the
 * others where `parts` has them.  Stacks get the numbers that they had. */
enum { REWRITE_MARKS = 1, REWRITE_SAMPLES = 2, REWRITE_GAPS = 4, REWRITE_STACKS = 8 };
void rewrite_add_process(const struct rewrite_source *x, const struct wake_process *p, uint32_t number);
void rewrite_add_meta(const struct rewrite_source *x, const struct wake_process *p, uint32_t number,
                      struct meta *m, unsigned parts);
/* The levels of a process that has ended; to is empty if there are none. */
void rewrite_copy_levels(const struct rewrite_source *x, size_t process, struct strbuf *to);

/* rewrite_names.c: gathers the names, which are written at the end. */
void rewrite_gather_names(struct rewrite_source *x);
void rewrite_put_binaries(struct rewrite_source *x);
void rewrite_put_notes(struct rewrite_source *x);

/* rewrite_culled.c: a whole recording, without events of short-lived blocks. */
int rewrite_culled(struct rewrite_source *x, struct err *err);

#endif

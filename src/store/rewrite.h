/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rewrite: a new recording made from others: several in one, one under other
 * names, or one without its short-lived blocks.
 *
 *     open, add recordings, close
 *
 * Events and stacks are copied as they are, or, where blocks are culled
 * (store/cull.h), written again.  All else is written anew, with the numbers and
 * times of the new file.  Every figure stays what it was.
 *
 * Processes are numbered on: those of the second recording follow those of the
 * first.  Times are moved by the difference of the wall clocks at which the
 * recordings began; a recording without one keeps its times.
 *
 * What is damaged in a source is left out.  Of copied sources the new file gets an
 * end record only if each had one and nothing was left out, so that readers derive
 * the rest as they do with the source.  A culled file is always closed, and counts
 * what was left out as lost.
 *
 * The final name is taken by wake_rewrite_close, so a source may be replaced by the
 * result.  No function prints.  One thread at a time.
 */
#ifndef HW_STORE_REWRITE_H
#define HW_STORE_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/names.h"
#include "store/reader.h"
#include "store/writer.h"
#include "tool/err.h"

struct wake_rewrite;

/* Other names for what a recording holds.  A command line becomes the name of its
 * program; binaries are left out, and of notes only their number is given.
 * Functions return the new text, which must last until wake_rewrite_add returns;
 * NULL: no memory. */
struct rewrite_mask {
    void *of;
    const char *(*show_program)(void *of, const char *exe);
    const char *(*show_thread)(void *of, const char *name);
    const char *(*show_mark)(void *of, const char *name);
    const char *(*show_pool)(void *of, const char *text);                  /* its name, and its unit */
    const char *(*show_range)(void *of, const char *name);                 /* of a range of addresses */
    const char *(*show_module)(void *of, size_t process, uint32_t module); /* its path */
    bool has_build_ids;                                                    /* they stay */
    const struct names *names; /* in place of the recording's; images by the new paths and build ids */
    uint64_t clock_step;       /* clocks of the recorder (its CPU time, when it ended) are cut to this, ns */
};

struct rewrite_options {
    uint64_t wall_ns;                     /* CLOCK_REALTIME at time 0 of the new file; 0 = not known */
    const struct wake_cull_options *cull; /* NULL: all events stay.  Else one recording can be added */
    bool (*is_stopped)(void); /* asked now and then; true: adding fails, with ERR_IO.  May be NULL */
};

/* The earliest wall clock at which one of these began; 0: none of them has one. */
uint64_t wake_rewrite_earliest(struct wake_reader *const *readers, size_t count);

/* path: of the new file. */
int wake_rewrite_open(struct wake_rewrite **rw, const char *path, const struct rewrite_options *options,
                      struct err *err);
/* The name of the new file until wake_rewrite_close(). */
const char *wake_rewrite_get_temp(const struct wake_rewrite *rw);
/* Adds all of a recording that began at or after wall_ns, or has no wall clock.
 * mask: NULL = everything as it is; must be NULL where blocks are culled.
 * ERR_INPUT: its times make no sense here, or it is one of a series (which can be
 * culled, but not copied); ERR_IO, ERR_FULL, ERR_LIMIT, ERR_MEMORY. */
int wake_rewrite_add(struct wake_rewrite *rw, struct wake_reader *r, const struct rewrite_mask *mask,
                     struct err *err);
/* Finishes and frees.  keep false, or a failure: there is no new file. */
int wake_rewrite_close(struct wake_rewrite *rw, bool keep, struct err *err);

#endif

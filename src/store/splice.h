/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * splice: a new recording made of the chunks of others: several recordings in
 * one, or one under other names.
 *
 *     open, add recordings, close
 *
 * Events and stacks are copied as they are; processes, threads, modules, marks, pools,
 * samples, usage, totals, live blocks and ends are written anew, with the numbers and
 * times of the new file.  So every figure stays what it was, and nothing is
 * decoded that need not be.
 *
 * Processes are numbered on: those of the second recording follow those of the
 * first.  Times are moved by the difference of the wall clocks at which the
 * recordings began; where one does not tell, its time 0 is that of the new file.
 *
 * What is damaged in a source is left out.  The new file gets an end record only
 * if all its sources had theirs and nothing was left out: a reader of the others
 * goes by what it finds, as it would with the source.
 *
 * Nothing stands under the final name before wake_splice_close, so that a source
 * may be replaced by the result.  No function prints.  One thread at a time.
 */
#ifndef HW_STORE_SPLICE_H
#define HW_STORE_SPLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/names.h"
#include "store/reader.h"
#include "tool/err.h"

struct wake_splice;

/* Other names for what a recording holds; a command line becomes the name of its
 * program; binaries are left out, and of notes only their number is said.
 * Functions give the new text, which must last until wake_splice_add returns;
 * NULL: no memory. */
struct splice_mask {
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

/* The earliest wall clock at which one of these began; 0: none of them tells. */
uint64_t wake_splice_earliest(struct wake_reader *const *readers, size_t count);

/* path: of the new file.  wall_ns: CLOCK_REALTIME at its time 0; 0 = not known. */
int wake_splice_open(struct wake_splice **s, const char *path, uint64_t wall_ns, struct err *err);
/* How the new file is called until wake_splice_close(). */
const char *wake_splice_get_temp(const struct wake_splice *s);
/* Asked before each chunk that is copied; true: adding fails, with ERR_IO. */
void wake_splice_heed(struct wake_splice *s, bool (*is_stopped)(void));
/* Adds all of a recording that began at or after wall_ns, or does not say when.
 * mask: NULL = everything as it is.  ERR_INPUT: its times make no sense here, or it is
 * one of a series;
 * ERR_IO, ERR_FULL, ERR_LIMIT, ERR_MEMORY. */
int wake_splice_add(struct wake_splice *s, struct wake_reader *r, const struct splice_mask *mask,
                    struct err *err);
/* Finishes and frees.  keep false, or a failure: there is no new file. */
int wake_splice_close(struct wake_splice *s, bool keep, struct err *err);

#endif

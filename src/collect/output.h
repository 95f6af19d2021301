/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * output: the files of one recording.
 *
 * The rule of names: a recording is written as NAME.partial (NAME.partial2, ...
 * where that is taken) and becomes NAME, in one step, when it is closed in
 * order.  So NAME is always whole, an older NAME is never half overwritten,
 * and a recorder that is killed leaves NAME.partial, which every command reads.
 *
 * With rotation the files are NAME.1, NAME.2, ...: each can be read alone, all
 * together are what NAME would have been (store/series.h).
 *
 * A name that this recording has already closed (a pid that came again) gets
 * ".2", ".3", ... rather than replacing what we wrote.  So does one that another
 * recorder has given to a recording meanwhile (the ranks of a job, all with one -o).
 * What had the name when the recording began is replaced.
 *
 * Where the pattern cannot be used the default name in the current folder is;
 * where that fails too nothing is recorded.  `complaint` says so, once.
 */
#ifndef HW_COLLECT_OUTPUT_H
#define HW_COLLECT_OUTPUT_H

#include "collect/name.h"
#include "store/writer.h"
#include "tool/err.h"
#include "tool/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct output_file {
    char *base; /* the name without the number of a part; NULL: there are no parts */
    uint32_t part;
    uint64_t part_ns;  /* CLOCK_MONOTONIC when it was begun */
    uint64_t repeated; /* bytes that it began with, of what earlier files have told */
    char *name;
    char *partial;
    struct stat before;         /* what was called `name` when it was begun; st_nlink 0: nothing */
    struct wake_writer *writer; /* NULL: closed */
    uint64_t base_ns;           /* CLOCK_MONOTONIC where its clock begins */
    uint64_t flushed_ns;        /* and when it was last brought up to date */
    uint32_t users;             /* processes that are not over */
    uint64_t bypassed;          /* processes with another malloc before the probe's, not told of yet */
    uint64_t unreached;         /* processes that could not reach the collector, not told of yet */
    uint64_t strangers;         /* processes that went on as what nobody can record, not told of yet */
    uint32_t unhooked;          /* enum segment_unhooked, of all its processes, not told of yet */
    uint64_t unfollowed;        /* processes that others started behind a seccomp filter, not told of yet */
    bool is_published;          /* has its name */
    struct output_file *next;   /* what it is about to become; NULL = nothing */
    uint64_t retry_ns;          /* there was no next one to be had: not asked again before */
};

/* How much is kept of a long run. */
struct output_keeping {
    bool is_culled;
    struct wake_cull_options cull;
    uint64_t max_bytes;    /* of a file; 0 = no limit */
    uint64_t rotate_bytes; /* from this size on it goes on in another file; 0 = never */
    uint64_t rotate_ns;    /* ... and after this time; 0 = never */
};

struct output {
    char *pattern;
    struct output_keeping keeping;
    VEC(struct output_file *) files;
    uint64_t bytes;       /* of finished files */
    struct err complaint; /* first thing that went wrong with names; code 0 = none */
    struct err failure;   /* first file that was not written whole; code 0 = none */
    bool is_off;          /* nothing can be written */
    uint64_t unrecorded;  /* processes that could not be recorded: the next file that is closed says so */
    uint64_t strangers;   /* children that became what nobody can record: the same */
};

/* pattern: NULL = the default; keeping: NULL = everything.  Never fails: see complaint. */
void output_init(struct output *o, const char *pattern, const struct output_keeping *keeping);
void output_release(struct output *o);
/* The file for a process that starts now; NULL: nothing is recorded. */
struct output_file *output_open(struct output *o, const struct name_facts *facts, uint64_t start_ns);
/* A process of this file is over.  Files of single processes are closed then,
 * and get their names, unless this was the last process: see output_finish.  Those of ranks stay open. */
void output_leave(struct output *o, struct output_file *f, uint64_t cpu_ns, bool is_last);
/* Is it time for the next file, and is that to be had?  Then all processes of this one are to be paused
 * (wake_writer_pause_process), and output_rotate follows.  Otherwise it goes on in the same. */
bool output_turn(struct output *o, struct output_file *f, uint64_t now_ns);
/* Closes the file under its name and goes on as NAME.2, NAME.3, ...  False: it cannot even be closed, and
 * is written no more. */
bool output_rotate(struct output *o, struct output_file *f, uint64_t cpu_ns);
/* Closes all that is still open. */
void output_close(struct output *o, uint64_t cpu_ns);

/* Once all are closed: gives them their names now, where output_finish may not come to its end. */
void output_publish_all(struct output *o);

/* So many processes are missing, because programs started them, or became them, behind a seccomp filter. */
void output_note_unfollowed(struct wake_writer *writer, uint64_t processes);

/* What else is to be done with a closed file. */
typedef void output_finish_fn(void *of, const char *path);
/* Once all are closed: does that with each (NULL: nothing), then gives those
 * their names that have none yet. */
void output_finish(struct output *o, output_finish_fn *finish, void *of);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * collector: the process beside the program.  Takes segments from probes,
 * drains them, watches the processes end, closes the files.
 *
 *     listener --hello--> tracee: image (drain, order, pair) --> output file
 *                           ^ pidfd: the end
 *
 * One thread, one epoll.  It sleeps twenty milliseconds between rounds, and not at
 * all while it lags behind.
 */
#ifndef HW_COLLECT_COLLECTOR_H
#define HW_COLLECT_COLLECTOR_H

#include "collect/allowance.h"
#include "collect/awaited.h"
#include "collect/image.h"
#include "collect/launch.h"
#include "collect/leaver.h"
#include "collect/listener.h"
#include "collect/name.h"
#include "collect/output.h"
#include "collect/robust.h"
#include "collect/timebase.h"
#include "collect/unrecorded_children.h"
#include "tool/err.h"
#include "tool/level.h"
#include "tool/strbuf.h"
#include "tool/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* A report of what has changed in a process since the one before. */
struct collector_report {
    uint32_t pid;
    const char *exe;
    const char *recording; /* its file */
    const char *path;      /* where the report goes; NULL: beside the recording */
    const char *name;      /* of the moment, "" = none */
    uint32_t sequence;     /* from 1 */
    uint32_t depth;        /* innermost frames to show, 0 = all */
    const struct changes_answer *changes;
    const struct definitions *book; /* stacks and modules */
};

/* Writes it.  0, or why not; *where gets the name of the file (or the first of them). */
typedef int collector_report_fn(void *of, const struct collector_report *report, struct strbuf *where,
                                struct err *err);

struct collector_options {
    const char *output;                   /* pattern; NULL = the default */
    const struct output_keeping *keeping; /* NULL = everything is kept */
    const char *address;                  /* where to listen; NULL = somewhere of its own choice */
    uint64_t map_usage_ns;                /* between samples of how memory is used; 0 = none are taken */
    bool children;                        /* processes other than the launched one are recorded too */
    level_say_fn *say;
    void *say_of;
    collector_report_fn *report; /* NULL: nobody can write one */
    void *report_of;
    /* Told of each process, with say_of, before anything is said of it; may be NULL. */
    void (*met)(void *of, const struct name_facts *facts);
    bool wants_traces; /* of the probe */
    bool is_traced;    /* say takes LEVEL_TRACE: not asked for each round otherwise */
};

/* Sums over all processes, for the closing line. */
struct collector_sums {
    uint64_t processes, events;
    uint64_t peak_bytes; /* of the process with the largest */
    uint64_t leaked_blocks, leaked_bytes;
    uint64_t sample_rate; /* the largest; 0 = all blocks were told of */
    uint64_t lost_events, anomalies;
    uint32_t stop_reason; /* of the first process that gave up, enum record_lost */
    bool out_of_memory;
    bool incomplete;
    uint64_t refused;    /* hellos that made no sense */
    uint64_t unshared;   /* processes that could make no segment */
    uint64_t unheard;    /* processes that there was no memory for */
    uint64_t bypassed;   /* processes with another malloc before the probe's */
    uint64_t unreached;  /* processes in sandboxes that could not reach us */
    uint64_t unfollowed; /* processes that others started behind a seccomp filter */
    uint64_t strangers;  /* processes that went on as what nobody can record */
};

struct tracee {
    int kind; /* first: tells what an epoll event is about */
    uint32_t pid;
    int pidfd;              /* -1: asked for by kill(pid, 0) */
    bool gone;              /* the process is; it may have said hello anew just before (an exec) */
    bool is_over;           /* and was before hellos were heard for the last time */
    bool is_stopped;        /* by somebody's wish */
    bool is_leaving;        /* it ends, and waits for us to write, or does not any more */
    uint64_t leave_request; /* it waits for this answer; 0: it does not */
    struct image *image;
    struct output_file *file;
};

struct visitor {
    int kind;
    int fd;
    uint64_t since_ns;
};

struct collector {
    struct collector_options options;
    struct listener listener;
    struct launch *launch; /* may be NULL */
    struct output output;
    struct robust robust;
    struct timebase time;
    struct ticker ticker;
    struct collector_sums sums;
    int epoll;
    VEC(struct tracee *) tracees;
    VEC(struct visitor *) visitors; /* connected, have not said hello */
    struct awaited awaited;
    struct unrecorded_children strangers;
    struct allowance allowance;
    uint64_t start_ns, last_tick_ns, last_order_ns;
    uint32_t root; /* the first process, 0 = not known yet */
    bool has_complained, has_missed_traces;
    bool is_contained; /* in a PID namespace, and of no program of our own: killed with its first process */
    VEC(struct leaver) leavers;
};

/* launch: prepared; the caller starts it after this (may be NULL). */
int collector_open(struct collector *c, const struct collector_options *options, struct launch *launch,
                   struct err *err);
/* Works until all is over, or launch_is_left. */
void collector_run(struct collector *c);
/* Ends and closes everything; output_finish(&c->output, ...) is to follow.
 * c->sums and c->output can be read until collector_release. */
void collector_close(struct collector *c);
void collector_release(struct collector *c);

#endif

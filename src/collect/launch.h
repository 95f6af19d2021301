/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * launch: runs the user's program under the collector, which stays out of its
 * way.
 *
 *  - The program keeps terminal, process group, descriptors, limits, umask,
 *    signal mask and dispositions as the user had them.
 *  - What the terminal sends (SIGINT, SIGQUIT) reaches the program by itself, or, where it has
 *    made a group of its own, through the collector;
 *    what is sent to the collector is passed on, whichever signal it is (but SIGCHLD,
 *    which is the collector's, and SIGPIPE and SIGXFSZ, which it ignores). What the program
 *    or a process that it has started sends is not: they mean the whole group, and the
 *    program has got it.
 *  - When the program is stopped by job control, so is the collector.
 *  - Orphans that the collector is given, as the first process of a container, are reaped.
 *  - Signals are the program's for as long as it runs. Once it is over, and the collector waits for
 *    its children or looks up names, SIGTERM twice, or SIGINT twice: `leave` is set.
 *  - Where there is no program of our own, or it is over, once is enough, also while it still ran: the programs that are
 *    recorded get LAUNCH_GRACE_S to end, since whoever shuts down a service or a
 *    machine sends SIGTERM to all at once, and then `leave` is due.
 */
#ifndef HW_COLLECT_LAUNCH_H
#define HW_COLLECT_LAUNCH_H

#include "tool/err.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { LAUNCH_GRACE_S = 3, LAUNCH_STOP_S = 3, LAUNCH_LATEST = 256 };

struct launch {
    pid_t pid;        /* 0: nothing was started */
    int signal_fd;    /* -1: none */
    int status;       /* as waitpid gives it, once has_ended */
    uint64_t max_rss; /* bytes, once has_ended */
    bool has_ended;
    bool leave;
    uint64_t leave_ns; /* CLOCK_MONOTONIC at which to leave; 0: nobody has asked */
    uint64_t stop_ns;  /* CLOCK_MONOTONIC at which the terminal asked to stop (Ctrl-Z); 0: it has not */
    bool is_asked;     /* somebody has sent SIGTERM or SIGINT, while the program ran or later */
    unsigned terms, interrupts; /* times the collector was asked to leave, when the program was over */
    int exec_error;             /* errno of a program that could not be run */
    sigset_t old_mask;
    struct sigaction old_pipe, old_child, old_fsize;
    struct rlimit old_files;     /* the collector raises its own */
    pid_t latest[LAUNCH_LATEST]; /* processes that the program has started, those of the recent past */
    unsigned next_latest;
};

/* Signals of the collector from here on come through signal_fd.  To be called
 * before launch_start, and also where there is no program. */
int launch_prepare(struct launch *l, struct err *err);
/* Runs argv with `more` (NULL-terminated NAME=VALUE) in front of the
 * environment.  A program that cannot be run is an error with exec_error set. */
int launch_start(struct launch *l, char *const argv[], char *const more[], struct err *err);
/* Where nothing can be recorded: becomes the program, which gets all as the user had
 * it.  Returns only when that fails, with an error and exec_error set. */
int launch_become(struct launch *l, char *const argv[], struct err *err);
/* signal_fd is readable. */
void launch_take_signals(struct launch *l);
/* A process is recorded: one of the program's. */
void launch_note(struct launch *l, pid_t pid);
/* Is it time to leave, whatever still runs? */
bool launch_is_left(const struct launch *l);
/* Has the program ended?  Takes its status, once. */
bool launch_reap(struct launch *l);
void launch_release(struct launch *l);

/* Ends the calling process as the program ended: its exit code, or its signal. */
_Noreturn void launch_exit_like(const struct launch *l);

#endif

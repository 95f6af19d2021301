/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tracee: the private part of collector that brings processes in and out.
 */
#ifndef HW_COLLECT_TRACEE_H
#define HW_COLLECT_TRACEE_H

#include "collect/collector.h"

enum { WATCH_LISTENER = 1, WATCH_SIGNALS, WATCH_TRACEE, WATCH_VISITOR };

/* Takes all that stand at the door. */
void tracee_accept(struct collector *c);
/* Hears all who have something to say, in the order in which they came: after an exec, two
 * of them have the same pid, and the second replaces the first. */
void tracee_hear(struct collector *c);
/* Sends away visitors who have said nothing for a second. */
void tracee_dismiss(struct collector *c, uint64_t now_ns);
/* Ends one: takes its last records, closes its section, forgets it. */
void tracee_end(struct collector *c, struct tracee *t, bool execed, bool gone);
/* By somebody's wish: the process runs on without us. */
void tracee_stop(struct collector *c, struct tracee *t);
/* NULL: no such process is recorded. */
struct tracee *tracee_find(const struct collector *c, uint32_t pid);
/* Finds out about the end of those without a pidfd. */
void tracee_poll(struct collector *c);
/* Notes children announced by the tracee; true while one of those may still come. */
bool tracee_await(struct collector *c);

/* Says once that the use of its memory cannot be sampled, if that is so. */
void tracee_warn_usage(const struct collector *c, struct tracee *t);
/* A round has taken so many events of it: said at LEVEL_TRACE. */
void tracee_trace(const struct collector *c, const struct tracee *t, uint64_t taken);

/* Lets the files that are full go on in others. */
void tracee_rotate(struct collector *c, uint64_t now_ns);

#endif

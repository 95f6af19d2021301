/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * attend: the private part of collector that does what it is asked to, by the
 * program itself (include/heapwake.h), by signals, and by `heapwake ctl`.
 */
#ifndef HW_COLLECT_ATTEND_H
#define HW_COLLECT_ATTEND_H

#include "collect/collector.h"
#include "wire/control.h"

/* Serves what the program has asked for in the events taken so far. */
void attend_requests(struct collector *c, struct tracee *t);
/* Does what signals stand for. */
void attend_wishes(struct collector *c, struct tracee *t);
/* The last report of a process that has had one. */
void attend_end(struct collector *c, struct tracee *t);
/* A request of `heapwake ctl` has come in on a connection, which stays the caller's. */
void attend_control(struct collector *c, int connection, const struct control_request *request);

#endif

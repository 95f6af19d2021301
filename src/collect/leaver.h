/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * leaver: processes that wait at their end, because the collector may be killed then (probe/leave.h).
 *
 *     MARK_END --events written, flushed--> is anybody else recorded, or to come?
 *         yes: answered, the process ends
 *         no:  all sections are closed, the file is closed and gets its name, answered; then names are looked up
 *
 * Only a collector that no program waits for and that is in a PID namespace is in this danger.
 */
#ifndef HW_COLLECT_LEAVER_H
#define HW_COLLECT_LEAVER_H

#include "wire/segment.h"

#include <stdbool.h>
#include <stdint.h>

struct collector;

/* A process whose section is closed. */
struct leaver {
    struct segment_head *head; /* a mapping of its own, of one page */
    uint64_t request;
};

/* May the collector be killed with the processes that it records? */
bool leaver_is_needed(const struct collector *c);
/* After each round: answers those that are not the last.  True: all that are recorded wait, and nobody is to come. */
bool leaver_settle(struct collector *c);
/* Closes the sections of all of them; they go on waiting. */
void leaver_take(struct collector *c);
/* The files have their names. */
void leaver_answer(struct collector *c);

#endif

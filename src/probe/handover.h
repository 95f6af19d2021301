/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * handover: gets a segment's descriptor to a collector.
 *
 * Which collector: the one that HEAPWAKE_SOCKET names (`name:token`, set by
 * `heapwake record` or by our exec hooks), else one of our own, started on the
 * spot (spawn.c). Nothing here waits for longer than a tenth of a second.
 *
 * The collector listens at an abstract socket, which is not visible in another network namespace, and at a
 * path, which is not visible in every mount namespace and to no other user (wire/segment.h). The second is tried
 * where the first fails.
 *
 * Nobody listens any more at the address of a recording that is over; nor, as far as we can see, where neither is
 * visible. So the name ends in the number of the collector's network namespace, in hexadecimal digits behind a dash (0: not known).
 */
#ifndef HW_PROBE_HANDOVER_H
#define HW_PROBE_HANDOVER_H

#include "probe/inner.h"

#include <stdbool.h>
#include <stdint.h>

enum { HANDOVER_NAME_MAX = 64, HANDOVER_TOKEN = 16 };

/* Where the collector listens: the name of its sockets and its secret. */
struct handover {
    char name[HANDOVER_NAME_MAX];
    uint8_t token[HANDOVER_TOKEN];
    bool is_set;
};

INNER struct handover handover;

/* Reads `name:token`; false when it makes no sense. */
bool handover_parse(struct handover *to, const char *text);

/* Writes it as `name:token`. room >= HANDOVER_NAME_MAX + 2 * HANDOVER_TOKEN + 2. */
void handover_print(const struct handover *from, char *text);

/* Connects, sends hello and the descriptor, closes the connection.  fd -1: there is none; the
 * collector counts us as one that it cannot record. */
bool handover_send(const struct handover *to, int fd);

/* Nobody listens there any more. */
bool handover_is_refused(const struct handover *to);

/* The number of one of our namespaces (/proc/self/ns/net, /proc/self/ns/pid); 0: not known. */
uint64_t handover_namespace(const char *path);

/* The recording is over: nobody listens there, and it is where we are. */
bool handover_is_over(const struct handover *to);

/* The recording may go on, and neither of its sockets is visible from here. */
bool handover_is_cut_off(const struct handover *to);

/* Starts a collector that listens at a new address, which becomes *to. */
bool spawn_collector(struct handover *to);

#endif

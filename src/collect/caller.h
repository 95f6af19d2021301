/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * caller: the other end of a collector's socket: finds the collector of a
 * process, and asks it (wire/control.h).
 *
 * Which collector that is: /proc/net/unix lists the sockets of all that
 * listen, and each is asked whether the process is one of its own.  All are
 * asked at once: others may be stopped, or busy, and whoever answers first ends the
 * wait.  Anybody can listen under such a name, so only those are heard who run as
 * root, as the caller, or as the owner of the process.
 */
#ifndef HW_COLLECT_CALLER_H
#define HW_COLLECT_CALLER_H

#include "wire/control.h"

#include <stdbool.h>
#include <stdint.h>

enum { CALLER_NAME_MAX = 100 };

/* A collector. */
struct caller_partner {
    char name[CALLER_NAME_MAX]; /* of its socket */
    uint32_t uid;               /* whose it is */
};

enum caller_finding {
    CALLER_FOUND,
    CALLER_NO_PROCESS,
    CALLER_NOT_RECORDED,
    CALLER_SPOOL,   /* it records by itself, into a file: there is no collector */
    CALLER_REFUSED, /* it is recorded for another user */
    CALLER_SILENT,  /* the process has a segment, but not all collectors answer */
};

/* CALLER_FOUND: *partner is the collector of the process. */
enum caller_finding caller_find(uint32_t pid, struct caller_partner *partner);

/* One question, one answer.  False: none has come in that time. */
bool caller_ask(const struct caller_partner *partner, const struct control_request *request, int patience_ms,
                struct control_answer *answer);

#endif

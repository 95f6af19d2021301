/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * preload: where libheapwake.so is, and the environment that loads it.
 */
#ifndef HW_CMD_PRELOAD_H
#define HW_CMD_PRELOAD_H

#include "collect/listener.h"
#include "tool/err.h"

#include <stdbool.h>

struct preload {
    char *library; /* LD_PRELOAD=... */
    char *socket;  /* HEAPWAKE_SOCKET=... */
    char *more[4]; /* these and HEAPWAKE_CHILDREN, NULL-terminated */
    char *other;   /* another copy that LD_PRELOAD names already; NULL: none */
};

/* Finds the library: $HEAPWAKE_PROBE, beside our own binary, or where it is
 * installed.  ERR_ABSENT: it is nowhere. */
int preload_init(struct preload *p, const struct listener *listener, bool children, struct err *err);
void preload_release(struct preload *p);

#endif

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
    char *sample;  /* HEAPWAKE_SAMPLE=..., or NULL */
    char *more[5]; /* these and HEAPWAKE_CHILDREN, NULL-terminated */
};

/* Finds the library: $HEAPWAKE_PROBE, beside our own binary, or where it is
 * installed.  ERR_ABSENT: it is nowhere. */
int preload_init(struct preload *p, const struct listener *listener, bool children, uint64_t sample_bytes,
                 struct err *err);
void preload_release(struct preload *p);

#endif

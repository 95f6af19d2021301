/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * drawing: graphviz's dot as a child process: what is written to `in` comes out
 * drawn at a descriptor.
 */
#ifndef HW_CMD_DRAWING_H
#define HW_CMD_DRAWING_H

#include "tool/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct drawing {
    pid_t pid;       /* 0 = not started */
    int in;          /* -1: none */
    int to;          /* the caller's, open until drawing_end */
    bool is_unheard; /* after drawing_end: whoever was to read the picture has gone */
};

/* kind: as dot calls it: "svg".  ERR_ABSENT: there is no dot here; ERR_SYSTEM. */
int drawing_begin(struct drawing *d, const char *kind, int to, struct err *err);
/* Waits for the picture.  ERR_FULL: there is no room for it; ERR_SYSTEM: dot failed.  Does nothing with one that was not started. */
int drawing_end(struct drawing *d, struct err *err);

#endif

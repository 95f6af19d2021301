/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * control: what `heapwake ctl` and a collector say to each other over the
 * collector's socket (abstract, sequenced packets): one request, one answer, and the
 * connection is closed.
 *
 * The size of both and the meaning of magic, version, CONTROL_FIND, pid, code and text stay
 * what they are in all versions, so that one that does not fit can be told.
 *
 * No secret is needed: the collector asks the kernel who stands at the other
 * end, and listens to its own user and to root.
 */
#ifndef HW_WIRE_CONTROL_H
#define HW_WIRE_CONTROL_H

#include <stdint.h>

#define CONTROL_MAGIC UINT32_C(0x4c525443) /* "CTRL" */
#define CONTROL_VERSION 1u

/* Abstract sockets of collectors begin like this; /proc/net/unix lists them. */
#define CONTROL_SOCKET_PREFIX "heapwake-"

enum control_op {
    CONTROL_FIND = 1, /* do you record this process? */
    CONTROL_ENABLE = 2,
    CONTROL_DISABLE = 3,
    CONTROL_TOGGLE = 4,
    CONTROL_TAG = 5,    /* text: its name */
    CONTROL_REPORT = 6, /* text: absolute path of the file, "" = beside the recording */
    CONTROL_STATUS = 7,
    CONTROL_STOP = 8,
};

enum control_code {
    CONTROL_DONE = 0,
    CONTROL_UNKNOWN = 1, /* the process is not recorded here */
    CONTROL_REFUSED = 2, /* neither the collector's user nor root */
    CONTROL_FAILED = 3,
};

enum { CONTROL_TEXT_MAX = 4096 };

struct control_request {
    uint32_t magic;
    uint32_t version;
    uint32_t op;    /* enum control_op */
    uint32_t pid;   /* as the collector sees it */
    uint32_t depth; /* CONTROL_REPORT: innermost frames to show, 0 = all */
    uint32_t unused;
    char text[CONTROL_TEXT_MAX]; /* NUL-terminated */
};

/* What CONTROL_STATUS tells in numbers: who asks knows how people read them. */
struct control_figures {
    uint64_t are_there; /* 0: the rest means nothing */
    uint64_t allocations, frees;
    uint64_t live_bytes, live_blocks, peak_bytes;
};

struct control_answer {
    uint32_t magic;
    uint32_t code;                                                /* enum control_code */
    char text[CONTROL_TEXT_MAX - sizeof(struct control_figures)]; /* a sentence, NUL-terminated */
    struct control_figures figures;
};

_Static_assert(sizeof(struct control_answer) == 8 + CONTROL_TEXT_MAX, "it stays what it is");

#endif

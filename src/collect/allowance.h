/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * allowance: how much memory the buffers between a program and the collector may take, unless HEAPWAKE_POOL says so.
 *
 * They count as the program's.  On a small machine, or in a control group (a container) with a low limit, a program that
 * would fit in there alone must not be killed because of them.
 */
#ifndef HW_COLLECT_ALLOWANCE_H
#define HW_COLLECT_ALLOWANCE_H

#include <stdint.h>

enum {
    ALLOWANCE_USUAL =
        32
        << 20, /* with 1 GiB of memory or more: a burst of two million events; else half of it at most ... */
    ALLOWANCE_PART = 16, /* ... and of the memory one part in so many */
    ALLOWANCE_LEAST = 1 << 20,
    ALLOWANCE_GROUPS_MAX = 4096, /* bytes that tell the groups of a process */
};

struct allowance {
    char
        groups[ALLOWANCE_GROUPS_MAX]; /* of the process that asked last: most are in those of their parents */
    uint64_t bytes;                   /* what it was given; 0: nobody has asked */
};

/* For the buffers of a process, in bytes.  Its limits are looked up in /proc and /sys; what is not known there is none. */
uint64_t allowance_find(struct allowance *a, uint32_t pid);

/* The parts of it.  The least of the limits that are set for control groups, as /proc/PID/cgroup names them, and for those
 * that they are in; `root` is where they are mounted.  UINT64_MAX: there is none. */
uint64_t allowance_limit(const char *root, const char *groups);
/* Of so much memory. */
uint64_t allowance_of(uint64_t memory);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hook: how a hooked function is written.
 *
 * HOOK exports it (its name must also stand in exports.map). HOOK_FRAME, used
 * in the hook itself, tells the walk where to start; it makes the compiler keep
 * a frame pointer there.
 */
#ifndef HW_PROBE_HOOK_H
#define HW_PROBE_HOOK_H

#include <errno.h>

#define HOOK \
    __attribute__((visibility("default"), noinline, aligned(64))) /* a line of the cache: 1 % of a storm */
#define HOOK_TOLD static __attribute__((noinline))                /* what a front jumps to */
#define HOOK_FRAME __builtin_frame_address(0)
#define HOOK_OFTEN(x) __builtin_expect(!!(x), 1)
#define HOOK_RARE(x) __builtin_expect(!!(x), 0)

/* The kernel's answer as libc's wrappers give it: -1 and errno. */
static inline long hook_result(long result)
{
    if ((unsigned long)result < (unsigned long)-4095L)
        return result;
    errno = (int)-result;
    return -1;
}

/* hook_thread.c: finds what its stub of syscall() jumps to. During birth. */
void hook_thread_publish(void);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * memory: pages straight from the kernel, for the probe's own tables. Never
 * given back but by process end; touched pages only count.
 */
#ifndef HW_PROBE_MEMORY_H
#define HW_PROBE_MEMORY_H

#include "probe/sys.h"

#include <sys/mman.h>

/* Zeroed and private; NULL when the kernel says no. */
static inline void *memory_pages(size_t length)
{
    long at =
        sys_mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return sys_failed(at) ? NULL : (void *)at;
}

static inline void memory_copy(void *to, const void *from, size_t length)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    for (size_t i = 0; i < length; i++) {
        t[i] = f[i];
        __asm__ volatile("" ::: "memory"); /* keeps the loop a loop: no call to memcpy */
    }
}

static inline void memory_zero(void *at, size_t length)
{
    unsigned char *t = at;
    for (size_t i = 0; i < length; i++) {
        t[i] = 0;
        __asm__ volatile("" ::: "memory");
    }
}

static inline size_t memory_string_length(const char *s)
{
    size_t n = 0;
    while (s[n] != '\0') {
        n++;
        __asm__ volatile("" ::: "memory");
    }
    return n;
}

#endif

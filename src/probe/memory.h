/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * memory: pages straight from the kernel, for the probe's own tables. Never
 * given back but by process end; touched pages only count.
 *
 * Once the program is in a sandbox the kernel may not be asked any more
 * (life_sandbox): then they come out of what was laid in before.
 */
#ifndef HW_PROBE_MEMORY_H
#define HW_PROBE_MEMORY_H

#include "probe/sys.h"

#include <sys/mman.h>

/* Zeroed and private; NULL when the kernel says no, or what was laid in has been used up. */
void *memory_pages(size_t length);

/* That nobody has seen yet. */
void memory_give_back(void *pages, size_t length);

/* The program is about to enter a sandbox. */
void memory_lay_in(void);

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

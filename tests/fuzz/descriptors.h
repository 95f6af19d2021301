/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * descriptors: whether what is tried leaves any open.
 */
#ifndef HW_TESTS_FUZZ_DESCRIPTORS_H
#define HW_TESTS_FUZZ_DESCRIPTORS_H

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* The descriptor that would be given out next. */
static inline int descriptors_next(int fd)
{
    int next = dup(fd);
    if (next < 0)
        abort();
    close(next);
    return next;
}

/* Is any open that was not before? A sanitizer's own thread opens files for moments, so once is not enough. */
static inline bool descriptors_are_left(int fd, int next)
{
    for (int i = 0; i < 1000; i++) {
        if (descriptors_next(fd) <= next)
            return false;
        usleep(1000);
    }
    return true;
}

#endif

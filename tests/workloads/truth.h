/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * truth: how the test programs tell the truth about themselves.  One line of
 * JSON, built in a static buffer and written with one write(2), so that the
 * telling allocates nothing and survives whatever the program does next.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char truth_text[1 << 20];
static size_t truth_length;

__attribute__((format(printf, 1, 2))) static inline void truth_add(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    truth_length +=
        (size_t)vsnprintf(truth_text + truth_length, sizeof truth_text - truth_length, format, args);
    va_end(args);
    if (truth_length >= sizeof truth_text)
        _exit(99);
}

static inline void truth_tell(int fd)
{
    size_t done = 0;
    while (done < truth_length) {
        ssize_t n = write(fd, truth_text + done, truth_length - done);
        if (n <= 0)
            _exit(98);
        done += (size_t)n;
    }
    truth_length = 0;
}

/* Keeps the compiler from knowing what a block is for. */
static inline void *truth_keep(void *block)
{
    __asm__ volatile("" : "+r"(block) : : "memory");
    return block;
}

#endif

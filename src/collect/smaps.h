/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * smaps: /proc/PID/smaps, line by line: the ranges of an address space and how much
 * of each is in memory.
 *
 *     7f0c00000000-7f0c00021000 rw-p 00000000 00:00 0     [anon:cache]
 *     Rss:                  72 kB
 *     Anonymous:            72 kB
 *     Swap:                  0 kB
 *     ... and others, which are passed over
 *
 * A range is handed on when its last line is known.  Of ranges that do not come by rising
 * address, and of those that are the kernel's (vsyscall), nothing is said.  What is resident or
 * swapped out is never more than the range has room for, whatever the text says.
 */
#ifndef HW_COLLECT_SMAPS_H
#define HW_COLLECT_SMAPS_H

#include "store/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SMAPS_NAME_MAX = 4096 };

/* range->name lasts until the call is over.  False: no more are wanted. */
typedef bool smaps_visit_fn(void *of, const struct wake_usage *range);

/* A whole text.  False: it is none of smaps, or no more are wanted. */
bool smaps_parse(const char *text, size_t length, smaps_visit_fn *visit, void *of);
/* That of a process, with a buffer of 64 KiB.  False: not to be had (errno says why), or as above. */
bool smaps_read(uint32_t pid, smaps_visit_fn *visit, void *of);

#endif

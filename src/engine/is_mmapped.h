/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * is_mmapped: whether glibc's malloc gave a block a mapping of its own, as it does with large ones.
 *
 * The probe does not see these calls of mmap, but the usable size tells.  In a heap a block has
 * what its chunk has, a multiple of 16, but for one word of 8 bytes; in a mapping of its own two
 * words are missing, and it ends where a page ends:
 *
 *     in a heap              usable % 16 = 8, at least 24
 *     in its own mapping     usable % 16 = 0, and address + usable is a multiple of 4096
 *
 * Blocks of before the probe was ready have no stack and are as large as was asked for; they are in no
 * mapping of their own.  Of another allocator's blocks nothing is known: they do not look like this,
 * most of the smallest least of all, so a process in which one block fits neither is not
 * told about (is_mmapped_check).
 */
#ifndef HW_ENGINE_IS_MMAPPED_H
#define HW_ENGINE_IS_MMAPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/filter.h"
#include "engine/watch.h"
#include "store/reader.h"
#include "tool/err.h"

enum is_mmapped { IS_MMAPPED_NO, IS_MMAPPED_YES, IS_MMAPPED_UNKNOWN };

static inline enum is_mmapped is_mmapped_of(uint64_t address, uint64_t size, uint64_t usable, uint32_t stack)
{
    if (stack == 0 && usable == size)
        return IS_MMAPPED_NO;
    if (usable % 16 == 8 && usable >= 24)
        return IS_MMAPPED_NO;
    return usable % 16 == 0 && usable > 0 && (address + usable) % 4096 == 0 ? IS_MMAPPED_YES
                                                                            : IS_MMAPPED_UNKNOWN;
}

/* If the filter asks for it: whether all blocks of the process tell.  0, WATCH_STOP, ERR_ABSENT: one
 * does not, or another error. */
int is_mmapped_check(const struct filter *f, struct watch *watch, struct wake_reader *reader,
                     uint32_t process, struct err *err);

#endif

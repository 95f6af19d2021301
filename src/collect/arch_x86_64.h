/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * arch (x86-64): the counter that stamps are taken from.
 */
#ifndef HW_COLLECT_ARCH_X86_64_H
#define HW_COLLECT_ARCH_X86_64_H

#include <stdint.h>

/* The value that a probe on this machine would put in a stamp now. */
static inline uint64_t arch_counter(void)
{
    return __builtin_ia32_rdtsc();
}

#endif

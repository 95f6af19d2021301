/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * arch: the table of CPUs the unwinder knows. One line each; the headers behind
 * it hold the same names with other numbers.
 */
#ifndef HW_PROBE_UNWIND_ARCH_H
#define HW_PROBE_UNWIND_ARCH_H

#if defined(__x86_64__)
#include "probe/unwind/arch_x86_64.h"
#else
#error "the unwinder has no arch_<cpu>.h for this CPU"
#endif

#endif

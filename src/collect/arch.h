/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * arch: what the collector asks of a CPU.  One line each.
 */
#ifndef HW_COLLECT_ARCH_H
#define HW_COLLECT_ARCH_H

#if defined(__x86_64__)
#include "collect/arch_x86_64.h"
#else
#error "the collector has no arch_<cpu>.h for this CPU"
#endif

#endif

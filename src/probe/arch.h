/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * arch: what the probe asks of a CPU besides unwinding. One line each.
 */
#ifndef HW_PROBE_ARCH_H
#define HW_PROBE_ARCH_H

#if defined(__x86_64__)
#include "probe/arch_x86_64.h"
#else
#error "the probe has no arch_<cpu>.h for this CPU"
#endif

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tracing: what the probe does, on standard error, for whoever ports it.
 *
 *     HEAPWAKE_TRACE=hooks:2,unwind:3
 *
 *     life     1  birth, renewal after fork
 *     share    1  segments and windows that are mapped, the end of recording   2  every chunk
 *     hooks    1  threads   2  every block that is told of
 *     unwind   1  stacks that are cut   2  every new stack   3  and its frames
 *
 * Only in builds that were configured with -Dtraces=true; in all others a TRACE is
 * nothing at all. In the format %u is a decimal and %x a hexadecimal number.
 */
#ifndef HW_PROBE_TRACING_H
#define HW_PROBE_TRACING_H

#include "probe/inner.h"

#include <stdint.h>

enum tracing_class { TRACE_LIFE, TRACE_SHARE, TRACE_HOOKS, TRACE_UNWIND, TRACE_CLASSES };

#ifdef HEAPWAKE_TRACES

enum { TRACING_IS_BUILT = 1 };

/* Level by class; set once, at birth. */
INNER uint8_t tracing_levels[TRACE_CLASSES];

void tracing_init(void);
void tracing_say(enum tracing_class class, const char *format, uint64_t a, uint64_t b, uint64_t c);

#define TRACE(class, level, format, a, b, c)                                         \
    do {                                                                             \
        if (__builtin_expect(tracing_levels[class] >= (level), 0))                   \
            tracing_say(class, format, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c)); \
    } while (0)

#else

enum { TRACING_IS_BUILT = 0 };

static inline void tracing_init(void)
{
}

#define TRACE(class, level, format, a, b, c) ((void)0)

#endif

#endif

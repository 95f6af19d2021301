/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cxx: what operator new and delete of the program are.
 *
 * The standard ones (libstdc++, libc++, or the allocator's own) are malloc and
 * free with a way to fail: our hooks then go straight to the real malloc and
 * tell of a `new`. Operators that a library of the program defines for itself
 * are left alone, as are all where malloc is not ours to begin with; what they
 * do inside is seen where it happens.
 */
#ifndef HW_PROBE_CXX_H
#define HW_PROBE_CXX_H

#include "probe/inner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cxx_kind {
    CXX_UNREAD = 0,
    CXX_STANDARD = 1,
    CXX_CUSTOM = 2,
};

INNER uint32_t cxx_kind;

/* Finds out what they are; after birth. */
bool cxx_find(void);

static inline bool cxx_is_standard(void)
{
    return __builtin_expect(cxx_kind == CXX_STANDARD, 1) || (cxx_kind == CXX_UNREAD && cxx_find());
}

/* The real operator of that name, as the caller at `pc` would have found it. */
void *cxx_operator(const char *name, void *pc);

#endif

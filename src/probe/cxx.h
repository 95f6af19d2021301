/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cxx: what operator new and delete of the program are.
 *
 * The standard ones (libstdc++, libc++, or the allocator's own) are malloc and
 * free with a way to fail: our hooks then go straight to the real malloc and
 * tell of a `new`. Operators that a library of the program defines for itself
 * are left alone; what they do inside is seen where it happens.
 */
#ifndef HW_PROBE_CXX_H
#define HW_PROBE_CXX_H

#include <stdbool.h>
#include <stddef.h>

extern bool cxx_is_standard;

/* During birth; real_malloc has been found but not published. */
void cxx_find(void *(*real_malloc)(size_t));

/* The real operator of that name, as the caller at `pc` would have found it. */
void *cxx_operator(const char *name, void *pc);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * real_wrapped: makes the linker take the real functions into a static program, also those that only libc calls.
 *
 * It is an object of its own in libheapwake.a, which heapwake.ld asks for. Without the options of that file the linker
 * would name every function that it was not told to wrap; so it complains about one name, which says what to do
 * (real_static.c).
 */
#include "probe/real.h"

extern void (*const heapwake_wrapped[])(void);

#define X(field, name, result, arguments) extern __typeof__(*real.field) __real_##field;
REAL_FUNCTIONS(X)
#undef X

/* Not every libc has these, and dlclose, dlopen and _Fork are not wrapped. */
extern __typeof__(*real.pvalloc) __real_pvalloc __attribute__((weak));
extern __typeof__(*real._Fork) __real__Fork __attribute__((weak));
extern __typeof__(*real.execveat) __real_execveat __attribute__((weak));
extern __typeof__(*real.dlclose) __real_dlclose __attribute__((weak));
extern __typeof__(*real.dlopen) __real_dlopen __attribute__((weak));

extern long __real_syscall(long number, ...);

#define X(field, name, result, arguments) (void (*)(void)) __real_##field,
void (*const heapwake_wrapped[])(void) = {REAL_FUNCTIONS(X)(void (*)(void)) __real_syscall};
#undef X

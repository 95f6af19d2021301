/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rebind: hooks for functions that we must not export.
 *
 * Programs ask whether jemalloc is there by `if (mallocx)` or dlsym(RTLD_DEFAULT,
 * "mallocx"): were the name exported, all of them would find it. So where a
 * shared library has it, the name is made to lead to our hook in that library's
 * own symbol table, and where it does not exist nothing changes.
 */
#ifndef HW_PROBE_REBIND_H
#define HW_PROBE_REBIND_H

#include "probe/inner.h"

#include <link.h>
#include <stdbool.h>

typedef void rebind_function(void);

/* One function of an allocator. */
struct rebind {
    const char *name;
    rebind_function *hook;
    rebind_function *real; /* NULL: no library has it */
    bool is_foreign;       /* of another allocator than the one that malloc is */
    ElfW(Sym) * symbol;    /* where the hook's address stands now, in the library's table; NULL: nowhere */
};

/* hook_allocator.c */
INNER struct rebind rebind_list[];
INNER const unsigned rebind_count;
/* Every block is to be all zero (HEAPWAKE_ZERO_MEMORY). */
INNER bool rebind_is_zeroed;

/* At birth, where the process is recorded. Nothing in static programs. */
void rebind_open(bool is_zeroed);

#endif

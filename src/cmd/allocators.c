/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * allocators: see allocators.h.  Where a file is, is left to the loader: who
 * asks it finds what the user's own programs would find.
 */
#include "cmd/allocators.h"

#include <stddef.h>
#include <string.h>

const struct allocator allocators_list[] = {
    {"glibc", {NULL}},
    {"jemalloc", {"libjemalloc.so.2", "libjemalloc.so.1", NULL}},
    {"tcmalloc", {"libtcmalloc_minimal.so.4", "libtcmalloc.so.4", NULL}},
    {"mimalloc", {"libmimalloc.so.3", "libmimalloc.so.2", "libmimalloc.so.1", NULL}},
    {NULL, {NULL}},
};

const struct allocator *allocators_find(const char *name)
{
    for (const struct allocator *a = allocators_list; a->name != NULL; a++) {
        if (strcmp(a->name, name) == 0)
            return a;
    }
    return NULL;
}

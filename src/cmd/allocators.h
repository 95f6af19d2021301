/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * allocators: the allocators that a replay knows by name.
 */
#ifndef HW_CMD_ALLOCATORS_H
#define HW_CMD_ALLOCATORS_H

enum { ALLOCATORS_FILES_MAX = 4 };

struct allocator {
    const char *name;
    const char *files[ALLOCATORS_FILES_MAX]; /* as the loader knows them, the best first; none: libc's own */
};

/* Ends with a name of NULL. */
extern const struct allocator allocators_list[];

/* NULL: not known. */
const struct allocator *allocators_find(const char *name);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * segments: at which address a byte of a program or library stands, by its own
 * count.  Sources that name a file and an offset need that to tell where it
 * was loaded.
 */
#ifndef HW_IMPORT_SEGMENTS_H
#define HW_IMPORT_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

struct symbolizer;

struct segments {
    const char *sysroot; /* NULL: none */
    struct symbolizer *symbolizer;
};

void segments_init(struct segments *s, const char *sysroot);
void segments_release(struct segments *s);

/* False: the file is not there any more, or has no such byte in memory. */
bool segments_find(struct segments *s, const char *path, uint64_t offset, uint64_t *address);

#endif

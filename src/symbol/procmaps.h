/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * procmaps: the modules of a process from a copy of its /proc/PID/maps (smaps
 * will do), for recordings that lack them.
 *
 *     55d0c000-55d0e000 r--p 00000000 08:01 1048602    /usr/bin/app
 *     55d0e000-55d12000 r-xp 00002000 08:01 1048602    /usr/bin/app
 *     55d12000-55d14000 rw-p 00006000 08:01 1048602    /usr/bin/app
 *
 * Mappings of one file that follow each other are one module.  Left out is what
 * has no name and what holds no code.
 */
#ifndef HW_SYMBOL_PROCMAPS_H
#define HW_SYMBOL_PROCMAPS_H

#include "tool/arena.h"
#include "tool/err.h"
#include "tool/vec.h"

#include <stddef.h>
#include <stdint.h>

struct procmaps_module {
    uint64_t start;                   /* of its first mapping */
    uint64_t end;                     /* of its last */
    uint64_t code_start, code_offset; /* first executable mapping: its address, and where it begins in
                                       * the file; binary_find_address() makes the bias of it */
    const char *path;                 /* as a file would be called: \012 and the like are undone */
};

struct procmaps {
    VEC(struct procmaps_module) modules; /* in the order of the file */
    struct arena texts;
};

void procmaps_init(struct procmaps *m);
void procmaps_release(struct procmaps *m);

/* Adds what the text says.  ERR_INPUT names the line that makes no sense, ERR_MEMORY. */
int procmaps_parse(struct procmaps *m, const char *text, size_t length, const char *name, struct err *err);
/* The same from a file.  ERR_LIMIT beyond 64 MiB, and what file_open() says. */
int procmaps_read(struct procmaps *m, const char *path, struct err *err);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * mapline: one line of /proc/PID/maps, which are those of smaps too.
 *
 *     55d0c000-55d0e000 r-xp 00002000 08:01 1048602    /usr/bin/app
 *
 * Single spaces up to the inode, then as many as it takes to align the path, which
 * may hold spaces itself.
 */
#ifndef HW_TOOL_MAPLINE_H
#define HW_TOOL_MAPLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mapline_rights { MAPLINE_READ = 1, MAPLINE_WRITE = 2, MAPLINE_EXECUTE = 4, MAPLINE_SHARED = 8 };

struct mapline {
    uint64_t start, end, offset;
    unsigned rights;
    const char *path; /* inside the line, not terminated */
    size_t path_length;
};

/* False: it is not such a line. */
bool mapline_parse(struct mapline *m, const char *line, size_t length);
/* "Rss:        4 kB", one of the lines that smaps has between those of maps; an empty one too. */
bool mapline_is_detail(const char *line, size_t length);
/* The kernel writes an end of line in a path as \012: puts back what was there, in place. */
void mapline_undo_escapes(char *path);

#endif

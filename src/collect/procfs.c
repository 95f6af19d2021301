/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * procfs: see procfs.h.
 */
#include "collect/procfs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The start of /proc/PID/name as text; false: not to be had. */
static bool procfs_read(uint32_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, size - 1);
    close(fd);
    if (got <= 0)
        return false;
    text[got] = '\0';
    return true;
}

uint64_t procfs_rss(uint32_t pid)
{
    char text[256], *rest;
    if (!procfs_read(pid, "statm", text, sizeof text))
        return 0;
    (void)strtoull(text, &rest, 10);
    return strtoull(rest, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

bool procfs_is_unfiltered(uint32_t pid)
{
    char text[4096];
    if (!procfs_read(pid, "status", text, sizeof text))
        return false;
    const char *line = strstr(text, "\nSeccomp:");
    return line != NULL && strtol(line + strlen("\nSeccomp:"), NULL, 10) == 0;
}

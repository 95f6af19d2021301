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

static const char *procfs_field(const char *text, const char *name)
{
    const char *line = strstr(text, name);
    return line == NULL ? NULL : line + strlen(name);
}

void procfs_read_status(uint32_t pid, struct procfs_status *status)
{
    char text[4096];
    *status = (struct procfs_status){-1, 0};
    if (!procfs_read(pid, "status", text, sizeof text))
        return;
    const char *filter = procfs_field(text, "\nSeccomp:");
    const char *peak = procfs_field(text, "\nVmHWM:");
    const char *count = procfs_field(text, "\nSeccomp_filters:");
    if (filter != NULL)
        status->filters = strtol(filter, NULL, 10) + (count == NULL ? 0 : 8 * strtol(count, NULL, 10));
    status->peak_rss = peak == NULL ? 0 : strtoull(peak, NULL, 10) * 1024;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * procfs: see procfs.h.
 */
#include "collect/procfs.h"

#include "tool/mapline.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool procfs_read(uint32_t pid, const char *name, char *text, size_t size)
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

bool procfs_is_contained(void)
{
    struct stat here;
    const ino_t first = 0xeffffffc; /* the kernel's PROC_PID_INIT_INO */
    return stat("/proc/self/ns/pid", &here) != 0 || here.st_ino != first;
}

uint32_t procfs_parent(uint32_t pid)
{
    char text[512];
    if (!procfs_read(pid, "stat", text, sizeof text))
        return 0;
    const char *behind = strrchr(text, ')'); /* its name may hold anything */
    unsigned parent = 0;
    char state;
    return behind != NULL && sscanf(behind + 1, " %c %u", &state, &parent) == 2 ? parent : 0;
}

uint64_t procfs_rss(uint32_t pid)
{
    char text[256], *rest;
    if (!procfs_read(pid, "statm", text, sizeof text))
        return 0;
    (void)strtoull(text, &rest, 10);
    return strtoull(rest, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

bool procfs_find_mapped(uint32_t pid, uint64_t address, struct strbuf *path)
{
    char name[40], *line = NULL;
    size_t room = 0, before = path->length;
    ssize_t length;
    struct mapline m;
    snprintf(name, sizeof name, "/proc/%u/maps", pid);
    FILE *f = fopen(name, "re");
    while (path->length == before && f != NULL && (length = getline(&line, &room, f)) > 0) {
        if (line[length - 1] == '\n')
            line[--length] = '\0';
        if (!mapline_parse(&m, line, (size_t)length) || address < m.start || address >= m.end)
            continue;
        if (m.path_length == 0 || m.path[0] != '/')
            break;
        mapline_undo_escapes(&line[m.path - line]);
        strbuf_add_text(path, m.path);
    }
    free(line);
    if (f != NULL)
        fclose(f);
    return path->length > before && !path->failed;
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

/* Whether the kernel tells these numbers (from 4.1 on). */
static bool procfs_visit_inner_of(uint32_t pid, procfs_inner_fn *visit, void *of)
{
    char text[4096], *rest;
    const char *numbers =
        procfs_read(pid, "status", text, sizeof text) ? procfs_field(text, "\nNSpid:") : NULL;
    const char *state = numbers == NULL ? NULL : procfs_field(text, "\nState:\t");
    if (numbers == NULL)
        return false;
    (void)strtoul(numbers, &rest, 10); /* the one that it has here */
    while (*rest == '\t' && state != NULL && *state != 'Z')
        visit(of, (uint32_t)strtoul(rest, &rest, 10));
    return true;
}

bool procfs_visit_inner(procfs_inner_fn *visit, void *of)
{
    DIR *folder = opendir("/proc");
    bool is_known = false;
    if (folder == NULL)
        return false;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char *end;
        unsigned long pid = strtoul(entry->d_name, &end, 10);
        if (pid != 0 && *end == '\0')
            is_known |= procfs_visit_inner_of((uint32_t)pid, visit, of);
    }
    closedir(folder);
    return is_known;
}

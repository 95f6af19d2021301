/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * allowance: see allowance.h.
 *
 *     /proc/PID/cgroup            where limits stand, below /sys/fs/cgroup
 *     0::/a/b                     a/b/memory.max, a/b/memory.high, a/memory.max, ... memory.max
 *     4:memory:/a/b               memory/a/b/memory.limit_in_bytes, memory/a/..., memory/...
 *
 * A container often sees its own group at the top while the path is that of the whole machine: folders that are not there
 * are passed over, and the way up ends where its limit is.
 */
#include "collect/allowance.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "collect/procfs.h"

/* The number in a file, UINT64_MAX where there is none ("max"). */
static uint64_t allowance_read(const char *folder, const char *name)
{
    char path[PATH_MAX], text[32], *end;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return UINT64_MAX;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return UINT64_MAX;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    uint64_t value = strtoull(text, &end, 10);
    return end == text ? UINT64_MAX : value;
}

/* Of a group and all that it is in. */
static uint64_t allowance_climb(const char *root, const char *group, const char *const *names)
{
    char folder[PATH_MAX];
    uint64_t least = UINT64_MAX;
    int length = snprintf(folder, sizeof folder, "%s%s", root, group);
    size_t top = strlen(root);
    if (length >= (int)sizeof folder || strstr(group, "/..") != NULL) /* of another namespace */
        folder[top] = '\0';
    for (;;) {
        for (const char *const *name = names; *name != NULL; name++) {
            uint64_t limit = allowance_read(folder, *name);
            least = limit < least ? limit : least;
        }
        char *last = strrchr(folder + top, '/');
        if (last == NULL)
            return least;
        *last = '\0';
    }
}

/* Whether a list with commas has "memory". */
static bool allowance_has_memory(const char *list)
{
    for (const char *word = list; word != NULL; word = strchr(word, ',')) {
        word += *word == ',';
        size_t length = strcspn(word, ",");
        if (length == strlen("memory") && memcmp(word, "memory", length) == 0)
            return true;
    }
    return false;
}

uint64_t allowance_limit(const char *root, const char *groups)
{
    static const char *const unified[] = {"memory.max", "memory.high", NULL};
    static const char *const legacy[] = {"memory.limit_in_bytes", NULL};
    char line[ALLOWANCE_GROUPS_MAX], below[PATH_MAX];
    uint64_t least = UINT64_MAX;
    snprintf(below, sizeof below, "%s/memory", root);
    for (const char *at = groups; *at != '\0'; at += *at == '\n') {
        size_t length = strcspn(at, "\n");
        size_t kept = length < sizeof line ? length : sizeof line - 1;
        memcpy(line, at, kept);
        line[kept] = '\0';
        at += length;
        char *list = strchr(line, ':'), *group = list == NULL ? NULL : strchr(list + 1, ':');
        if (group == NULL)
            continue;
        *group++ = '\0';
        uint64_t limit = list[1] == '\0'                  ? allowance_climb(root, group, unified)
                         : allowance_has_memory(list + 1) ? allowance_climb(below, group, legacy)
                                                          : UINT64_MAX;
        least = limit < least ? limit : least;
    }
    return least;
}

uint64_t allowance_of(uint64_t memory)
{
    uint64_t part = memory / ALLOWANCE_PART;
    if (memory >= UINT64_C(1) << 30)
        return ALLOWANCE_USUAL;
    if (part >= ALLOWANCE_USUAL / 2)
        return ALLOWANCE_USUAL / 2;
    return part < ALLOWANCE_LEAST ? ALLOWANCE_LEAST : part;
}

uint64_t allowance_find(struct allowance *a, uint32_t pid)
{
    char groups[ALLOWANCE_GROUPS_MAX];
    if (!procfs_read(pid, "cgroup", groups, sizeof groups))
        groups[0] = '\0';
    if (a->bytes != 0 && strcmp(a->groups, groups) == 0)
        return a->bytes;
    struct sysinfo system;
    uint64_t memory = allowance_limit("/sys/fs/cgroup", groups);
    if (sysinfo(&system) == 0 && (uint64_t)system.totalram * system.mem_unit < memory)
        memory = (uint64_t)system.totalram * system.mem_unit;
    memcpy(a->groups, groups, sizeof groups);
    a->bytes = allowance_of(memory);
    return a->bytes;
}

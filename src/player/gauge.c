/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * gauge: see gauge.h.
 */
#include "player/gauge.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t gauge_read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t gauge_cpu_ns(void)
{
    return gauge_read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t gauge_now_ns(void)
{
    return gauge_read_clock(CLOCK_MONOTONIC);
}

/* The number behind a word of /proc/self/status, in KiB. */
static bool gauge_find(const char *text, const char *word, uint64_t *bytes)
{
    const char *at = strstr(text, word);
    uint64_t value = 0;
    if (at == NULL)
        return false;
    at += strlen(word);
    at += strspn(at, " \t");
    for (; *at >= '0' && *at <= '9'; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    *bytes = value * 1024;
    return true;
}

bool gauge_read_memory(struct gauge_memory *m)
{
    char text[8192];
    size_t length = 0;
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    for (;;) {
        ssize_t got = read(fd, text + length, sizeof text - 1 - length);
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    close(fd);
    text[length] = '\0';
    return gauge_find(text, "VmRSS:", &m->rss_bytes) && gauge_find(text, "VmHWM:", &m->peak_rss_bytes);
}

bool gauge_forget_peak(void)
{
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool done = write(fd, "5", 1) == 1;
    close(fd);
    return done;
}

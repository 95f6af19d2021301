/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * clock PROGRAM ARGS...: runs the program and writes what it alone has cost,
 *
 *     wall_ns cpu_ns maxrss_kib
 *
 * to the file named by BENCH_CLOCK. It stands inside a recording, between the
 * recorder and the program, so that the recorder's own start and end are not
 * counted. BENCH_PRELOAD becomes the program's LD_PRELOAD, for tools that want
 * the program and nobody else. Allocates nothing of its own in a recording;
 * exits as the program did.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t cpu_ns(const struct rusage *u)
{
    return ((int64_t)u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000000 +
           ((int64_t)u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000;
}

int main(int argc, char **argv)
{
    const char *file = getenv("BENCH_CLOCK");
    const char *preload = getenv("BENCH_PRELOAD");
    if (argc < 2 || file == NULL) {
        fputs("usage: BENCH_CLOCK=file clock program args...\n", stderr);
        return 2;
    }

    unsetenv("BENCH_CLOCK");
    unsetenv("BENCH_PRELOAD");
    if (preload != NULL)
        setenv("LD_PRELOAD", preload, 1);

    int64_t start = now_ns();
    pid_t child;
    if (posix_spawnp(&child, argv[1], NULL, NULL, argv + 1, environ) != 0)
        return 127;

    int status = 0;
    struct rusage usage;
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
        ;
    int64_t wall = now_ns() - start;

    char line[96];
    int length = snprintf(line, sizeof line, "%lld %lld %ld\n", (long long)wall, (long long)cpu_ns(&usage),
                          usage.ru_maxrss);
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || write(fd, line, (size_t)length) != length)
        return 126;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * flood MODE COUNT [AT_ONCE]: more of everything than a recorder likes. Tells what it
 * made, how much its memory has grown meanwhile, and the longest that a call took.
 *
 *   pairs      COUNT blocks of 7073 bytes, each released before the next but 64
 *   noise      COUNT blocks of chance sizes that live for chance times: the least that
 *              a compressor can do anything with
 *   processes  COUNT forked children, AT_ONCE alive at a time
 */
#include "truth.h"

#include <stdint.h>
#include <sys/wait.h>
#include <time.h>

enum { KEPT = 1 << 20 };

static long made, freed, longest_ns;
static void *kept[KEPT];

static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

static long resident_kib(void)
{
    char text[256] = "";
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fgets(text, sizeof text, f) == NULL)
        _exit(97);
    fclose(f);
    return atol(strchr(text, ' ')) * (sysconf(_SC_PAGESIZE) / 1024);
}

/* The clock is read around some calls only: it costs as much as they do. A thread that
 * waits for room waits in the call that finds none, which is one in hundreds. */
static void *make(size_t size)
{
    void *block = truth_keep(malloc(size));
    if (block == NULL)
        _exit(96);
    made++;
    return block;
}

static void drop(void *block)
{
    free(block);
    freed++;
}

static void pairs(long count)
{
    long before = now();
    for (long i = 0; i < count; i++) {
        void **slot = &kept[i % 64];
        if (*slot != NULL)
            drop(*slot);
        *slot = make(7073);
        if (i % 16 == 0) {
            long after = now();
            longest_ns = after - before > longest_ns ? after - before : longest_ns;
            before = after;
        }
    }
    for (int i = 0; i < 64; i++) {
        if (kept[i] != NULL)
            drop(kept[i]);
    }
}

static void noise(long count)
{
    uint64_t state = 88172645463325252u;
    for (long i = 0; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        void **slot = &kept[state % KEPT];
        if (*slot != NULL)
            drop(*slot);
        *slot = make(1 + (state >> 32) % 1000);
    }
}

static void child(void)
{
    drop(make(7079));
    make(7079);
    _exit(0);
}

static void processes(long count, long at_once)
{
    long running = 0;
    int status;
    for (long i = 0; i < count; i++) {
        for (; running >= at_once; running--) {
            if (wait(&status) < 0 || status != 0)
                _exit(95);
        }
        pid_t pid = fork();
        if (pid < 0)
            _exit(94);
        if (pid == 0)
            child();
        running++;
    }
    for (; running > 0; running--) {
        if (wait(&status) < 0 || status != 0)
            _exit(93);
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    long count = argc > 2 ? atol(argv[2]) : 0, at_once = argc > 3 ? atol(argv[3]) : 1;
    long before = resident_kib();
    if (strcmp(mode, "pairs") == 0)
        pairs(count);
    else if (strcmp(mode, "noise") == 0)
        noise(count);
    else if (strcmp(mode, "processes") == 0)
        processes(count, at_once);
    else
        return 2;
    truth_add("{\"made\": %ld, \"freed\": %ld, \"grown_kib\": %ld, \"longest_ns\": %ld}\n", made, freed,
              resident_kib() - before, longest_ns);
    truth_tell(1);
    return 0;
}

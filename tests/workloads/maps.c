/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * maps: mappings that are left alone, used, cut and removed, each by a function of its
 * own; says where they are and how many of their pages it has touched.
 * build: -I{root}/include {build}/tests/workloads/libmover.so -Wl,-rpath,$ORIGIN
 *
 *     maps HOW [named]    HOW: ctl    after each step a line is printed, and one from stdin awaited
 *                              flush  after each step heapwake_flush() is awaited
 *                         named: the kernel is asked to call each mapping by its name
 *     maps file PATH      a file, of which one page is read
 *     maps moved          mappings that mremap grows and moves, a munmap that fails, the break
 *     maps closed         nobody but root may look into the process any more
 *     maps taken          the place of a mapping that moves is taken by another thread at once
 */
#include <heapwake.h>

#include "truth.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

#define NOINLINE __attribute__((noinline))

enum { PAGE = 4096, PAGES = 5, LENGTH = PAGE * PAGES };

static bool is_named;
static int names_taken;
static volatile int refused; /* also, so that no call is the last of its function */

static void name(char *at, size_t length, const char *what)
{
    if (is_named)
        names_taken += prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, length, what) == 0;
}

static void touch(char *at, unsigned pages)
{
    for (unsigned i = 0; i < PAGES; i++) {
        if ((pages >> i & 1) != 0)
            ((volatile char *)at)[i * PAGE] = 1;
    }
}

/* One function for each mapping, so that each has a site of its own. */
#define MAKER(what, pages)                                                                          \
    static NOINLINE char *make_##what(void)                                                         \
    {                                                                                               \
        char *at = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  \
        truth_keep(at);                                                                             \
        name(at, LENGTH, #what);                                                                    \
        touch(at, pages);                                                                           \
        printf("{\"name\": \"%s\", \"address\": \"%#lx\"}\n", #what, (unsigned long)(uintptr_t)at); \
        return at;                                                                                  \
    }

MAKER(untouched, 0)
MAKER(touched, 0x5)
MAKER(unmapped, 0x1)
MAKER(start, 0x1f)
MAKER(end, 0x1f)
MAKER(middle, 0x1f)
MAKER(under, 0x1f)

static NOINLINE void unmap_all(char *at)
{
    refused += munmap(at, LENGTH);
}

static NOINLINE void cut_start(char *at)
{
    refused += munmap(at, PAGE);
}

static NOINLINE void cut_end(char *at)
{
    refused += munmap(at + LENGTH - PAGE, PAGE);
}

static NOINLINE void cut_middle(char *at)
{
    refused += munmap(at + 2 * PAGE, PAGE);
}

static NOINLINE char *make_over(char *at)
{
    char *over =
        mmap(at + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    truth_keep(over);
    name(over, PAGE, "over");
    touch(over, 0x1);
    printf("{\"name\": \"over\", \"address\": \"%#lx\"}\n", (unsigned long)(uintptr_t)over);
    return over;
}

static void step(bool by_ctl)
{
    char line[16];
    if (!by_ctl) {
        (void)HEAPWAKE_FLUSH();
        return;
    }
    printf("{\"names_taken\": %d}\n", names_taken);
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL)
        return;
}

static void lives(bool by_ctl)
{
    (void)HEAPWAKE_FLUSH(); /* whatever is sampled at the beginning has been */
    make_untouched();
    char *touched = make_touched(), *unmapped = make_unmapped(), *start = make_start();
    char *end = make_end(), *middle = make_middle(), *under = make_under();
    step(by_ctl);
    unmap_all(unmapped);
    cut_start(start);
    cut_end(end);
    cut_middle(middle);
    make_over(under);
    madvise(touched, LENGTH, MADV_DONTNEED);
    step(by_ctl);
    printf("{\"names_taken\": %d}\n", names_taken);
}

static NOINLINE void map_file(const char *path)
{
    int fd = open(path, O_RDONLY);
    const char *at = mmap(NULL, LENGTH, PROT_READ, MAP_SHARED, fd, 0);
    if (fd >= 0 && at != MAP_FAILED)
        printf("{\"read\": %d}\n", at[PAGE]);
    (void)HEAPWAKE_FLUSH();
}

/* ------------------------------------------------------------------------ moved */

static NOINLINE char *make_first(void)
{
    return truth_keep(mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static NOINLINE char *move_it(char *at, char *to)
{
    return truth_keep(mremap(at, LENGTH, (size_t)2 * LENGTH, MREMAP_MAYMOVE | MREMAP_FIXED, to));
}

static NOINLINE char *make_target(void)
{
    return truth_keep(mmap(NULL, (size_t)2 * LENGTH, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static NOINLINE int unmap_in_vain(char *at)
{
    /* So long that it wraps: refused by the kernel, and by no other. */
    int result = munmap(at, (size_t)-PAGE);
    refused += result;
    return result;
}

static void moved(void)
{
    char *first = make_first(), *target = make_target();
    int failed = unmap_in_vain(first) != 0;
    char *second = move_it(first, target);
    char *old = sbrk(0);
    int grown = brk(old + LENGTH) == 0 && brk(old + 2 * PAGE) == 0;
    printf(
        "{\"first\": \"%#lx\", \"target\": \"%#lx\", \"second\": \"%#lx\", \"failed\": %d, \"grown\": %d}\n",
        (unsigned long)(uintptr_t)first, (unsigned long)(uintptr_t)target, (unsigned long)(uintptr_t)second,
        failed, grown);
}

/* ------------------------------------------------------------------------ taken */

extern void (*mover_then)(void *old); /* libmover */

static NOINLINE void *make_taken(void *at)
{
    return truth_keep(
        mmap(at, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
}

static void take_place(void *old)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, make_taken, old) == 0)
        pthread_join(thread, NULL);
}

static NOINLINE int move_in_vain(char *at)
{
    int result = mremap(at, LENGTH, (size_t)1 << 46, 0) == MAP_FAILED;
    refused -= result;
    return result;
}

static void taken(void)
{
    char *first = make_first(), *target = make_target();
    int failed = move_in_vain(first);
    mover_then = take_place;
    char *second = move_it(first, target);
    mover_then = NULL;
    printf("{\"first\": \"%#lx\", \"second\": \"%#lx\", \"failed\": %d}\n", (unsigned long)(uintptr_t)first,
           (unsigned long)(uintptr_t)second, failed);
}

static void close_it(void)
{
    int is_closed = prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0, flush = HEAPWAKE_FLUSH();
    printf("{\"closed\": %d, \"flush\": %d}\n", is_closed, flush);
}

int main(int argc, char **argv)
{
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* a touched page is one page */
    is_named = argc > 2 && strcmp(argv[2], "named") == 0;
    if (argc > 1 && strcmp(argv[1], "moved") == 0)
        moved();
    else if (argc > 1 && strcmp(argv[1], "closed") == 0)
        close_it();
    else if (argc > 1 && strcmp(argv[1], "taken") == 0)
        taken();
    else if (argc > 2 && strcmp(argv[1], "file") == 0)
        map_file(argv[2]);
    else
        lives(argc > 1 && strcmp(argv[1], "ctl") == 0);
    return 0;
}

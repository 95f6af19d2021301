/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * own_heap CASE: a program that brings its own malloc, complete and without a look at any other. All of
 * the process uses it, libc too; the recorder, which comes after the program, sees nothing, and says so.
 *
 * build: -rdynamic
 */
#include "hostile.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { ROOM = 32 << 20, HEAD = 16 };

static _Alignas(4096) unsigned char heap[ROOM];
static atomic_size_t used;
static atomic_long given, taken;

/* The size stands before the block. */
static void *give(size_t alignment, size_t size)
{
    if (size > ROOM / 2) {
        errno = ENOMEM;
        return NULL;
    }
    size_t at = atomic_fetch_add(&used, (size + HEAD + alignment + 15) & ~(size_t)15);
    at = (at + HEAD + alignment - 1) / alignment * alignment;
    if (at + size > ROOM)
        _exit(94);
    *(size_t *)(void *)(heap + at - HEAD) = size;
    given++;
    return heap + at;
}

static int is_own(const void *block)
{
    return (uintptr_t)block - (uintptr_t)heap < sizeof heap;
}

void *malloc(size_t size)
{
    return give(16, size);
}

void free(void *block)
{
    if (block == NULL)
        return;
    expect(is_own(block), "a block of another came back");
    taken++;
}

void *calloc(size_t count, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return give(16, all); /* what nobody has used is zero */
}

size_t malloc_usable_size(void *block)
{
    return block == NULL ? 0 : *(size_t *)(void *)((unsigned char *)block - HEAD);
}

void *realloc(void *block, size_t size)
{
    size_t old = malloc_usable_size(block);
    void *next = give(16, size);
    if (next != NULL && block != NULL) {
        memcpy(next, block, old < size ? old : size);
        free(block);
    }
    return next;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return give(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
    return give(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = give(alignment, size);
    return *block == NULL ? ENOMEM : 0;
}

static void *in_thread(void *argument)
{
    for (int i = 0; i < 100; i++) {
        void *block = make(10247);
        expect(is_own(block), "a thread got a block of another");
        drop(block, 10247);
    }
    return argument;
}

/* Functions of libc that allocate, of which the recorder has those that glibc's malloc lacks, too. */
static void everywhere(void)
{
    pthread_t thread;
    char *line = NULL, *text = strdup("some words");
    size_t room = 0;
    long before = given;
    expect(is_own(text), "strdup went elsewhere");
    FILE *stream = fmemopen(text, 10, "r");
    expect(getline(&line, &room, stream) == 10 && is_own(line), "getline went elsewhere");
    fclose(stream);
    void *more = truth_keep(reallocarray(line, 3, 1009));
    expect(is_own(more), "reallocarray went elsewhere");
    free(more);
    free(text);
    expect(given - before >= 3, "libc allocates elsewhere");
    pthread_create(&thread, NULL, in_thread, NULL);
    in_thread(NULL);
    pthread_join(thread, NULL);
    expect(taken >= 200, "releases went elsewhere");
    memset(hostile_counts, 0, sizeof hostile_counts); /* none of it can be seen */
}

HOSTILE_CASES({"everywhere", everywhere})

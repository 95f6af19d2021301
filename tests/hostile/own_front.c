/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * own_front CASE: a program whose own malloc stands before the others and passes on what it is asked for,
 * with a head of its own before each block. What it passes on is recorded.
 *
 * build: -rdynamic
 */
#include "hostile.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

enum { HEAD = 32 };

static const char mark[HEAD] = "a mark of 32 bytes before it all";
static void *(*next_malloc)(size_t);
static void (*next_free)(void *);

void *malloc(size_t size)
{
    if (next_malloc == NULL)
        *(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
    if (size > (size_t)1 << 40) {
        errno = ENOMEM;
        return NULL;
    }
    char *block = next_malloc(size + HEAD);
    return block == NULL ? NULL : (char *)memcpy(block, mark, HEAD) + HEAD;
}

void free(void *block)
{
    if (block == NULL)
        return;
    if (next_free == NULL)
        *(void **)&next_free = dlsym(RTLD_NEXT, "free");
    expect(memcmp((char *)block - HEAD, mark, HEAD) == 0, "a block came back that was not given here");
    next_free((char *)block - HEAD);
}

void *calloc(size_t count, size_t size)
{
    size_t all;
    void *block = __builtin_mul_overflow(count, size, &all) ? NULL : malloc(all);
    return block == NULL ? NULL : memset(block, 0, all);
}

size_t malloc_usable_size(void *block)
{
    static size_t (*next)(void *);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "malloc_usable_size");
    return block == NULL ? 0 : next((char *)block - HEAD) - HEAD;
}

void *realloc(void *block, size_t size)
{
    size_t old = malloc_usable_size(block);
    void *other = malloc(size);
    if (other != NULL && block != NULL) {
        memcpy(other, block, old < size ? old : size);
        free(block);
    }
    return other;
}

static void *in_thread(void *argument)
{
    for (int i = 0; i < 100; i++) {
        void *block = make(10253);
        if (i % 2 == 0)
            drop(block, 10253);
    }
    return argument;
}

/* Told is what was passed on. */
static void passed_on(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, NULL);
    in_thread(NULL);
    pthread_join(thread, NULL);
    free(truth_keep(reallocarray(strdup("some words"), 3, 1009)));
    for (unsigned i = 0; i < HOSTILE_SIZES && hostile_counts[i].size != 0; i++)
        hostile_counts[i].size += HEAD;
}

HOSTILE_CASES({"passed_on", passed_on})

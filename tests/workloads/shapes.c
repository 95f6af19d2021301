/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * shapes [ALLOCATIONS]: goes up and down at random among functions whose frames are found in every way that
 * compilers have: by the stack pointer, by the frame pointer (a frame of changing size), by a pointer that was saved
 * (a stack that is aligned anew); small and large, so that another function may end at the same place. Each
 * allocates now and then. So no stack is far from the one before, and none is like it for long.
 *
 * Prints how many blocks were allocated, and the deepest stack.
 */
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline))
#define KEEP(x) __asm__ volatile("" : : "r"(x) : "memory")

enum { DEPTH_MAX = 60 };

static uint64_t state = 1;
static long left, made;
static int deepest;

static unsigned draw(unsigned below)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(state >> 33) % below;
}

static void call_any(int depth);

/* What every function does between its beginning and its end. */
static inline __attribute__((always_inline)) void live_here(int depth)
{
    if (depth > deepest)
        deepest = depth;
    for (unsigned turns = 1 + draw(3); turns > 0 && left > 0; turns--) {
        if (draw(2) == 0) {
            void *block = malloc(1 + draw(100));
            KEEP(block);
            free(block);
            left--;
            made++;
        }
        if (depth < DEPTH_MAX && draw(5) < 2)
            call_any(depth + 1);
    }
}

APART static void thin(int depth)
{
    live_here(depth);
    KEEP(&state);
}

APART static void broad(int depth)
{
    char room[200];
    KEEP(room);
    live_here(depth);
    KEEP(room);
}

APART static void broad_too(int depth)
{
    char room[200];
    KEEP(room);
    live_here(depth);
    KEEP(room);
}

APART static void changing(int depth)
{
    char *room = alloca(16 + draw(8) * 16);
    KEEP(room);
    live_here(depth);
    KEEP(room);
}

APART static void aligned_anew(int depth)
{
    char room[64] __attribute__((aligned(64)));
    KEEP(room);
    live_here(depth);
    KEEP(room);
}

APART static void aligned_and_changing(int depth)
{
    char room[64] __attribute__((aligned(64)));
    char *more = alloca(16 + draw(8) * 16);
    KEEP(room);
    KEEP(more);
    live_here(depth);
    KEEP(more);
}

APART static void call_any(int depth)
{
    static void (*const all[])(int) = {thin, broad, broad_too, changing, aligned_anew, aligned_and_changing};
    all[draw(sizeof all / sizeof *all)](depth);
    KEEP(&state);
}

int main(int argc, char **argv)
{
    left = argc > 1 ? strtol(argv[1], NULL, 10) : 10000;
    while (left > 0)
        call_any(1);
    printf("shapes: allocs=%ld deepest=%d\n", made, deepest);
    return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * dawn CASE: calls of the malloc family before anything is ready for them.
 *
 * build: -L{build}/tests/hostile -ldawn -Wl,-rpath,{build}/tests/hostile
 */
#include "dawn.h"
#include "hostile.h"

#include <stdint.h>

static void *first[DAWN_BLOCKS];

/* In .preinit_array: libraries are bound, but no constructor has run, libc's own included. */
static void before_all(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    (void)environment;
    expect(dawn_made()->constructed[0] == NULL, "a constructor came first");
    for (int i = 0; i < DAWN_BLOCKS; i++)
        first[i] = make(13037);
    drop(first[0], 13037);
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **,
                                                                              char **) = before_all;

static void count_many(size_t size, int blocks)
{
    for (int i = 0; i < blocks; i++)
        count_made(size);
}

/* What the library made while it was relocated is as good as any other block. */
static void relocation(void)
{
    struct dawn *d = dawn_made();
    expect(dawn_answer() == 6, "the resolver chose another function");
    expect(d->is_bound, "the resolver could not allocate");
    expect(d->was_zero, "calloc gave a block that is not empty");
    expect(d->was_kept, "realloc lost the content");
    expect(d->had_room, "a block is smaller than it should be");
    expect((uintptr_t)d->aligned % 256 == 0, "a block is not aligned");
    count_many(DAWN_ALIGNED, 1);
    count_many(DAWN_ZEROED, 1);
    count_freed(DAWN_ZEROED);
    count_many(DAWN_SMALL, 1);
    count_freed(DAWN_SMALL);
    count_many(DAWN_GROWN, 1);
    count_many(DAWN_PLAIN, DAWN_BLOCKS);
    unsigned char *moved = truth_keep(realloc(d->grown, 13043));
    count_freed(DAWN_GROWN);
    count_made(13043);
    expect(moved[DAWN_SMALL - 1] == (unsigned char)(DAWN_SMALL * 7), "a moved block lost its content");
    drop(d->aligned, DAWN_ALIGNED);
    drop(d->plain[0], DAWN_PLAIN);
    drop(d->plain[DAWN_BLOCKS - 1], DAWN_PLAIN);
}

/* Constructors of libraries, and what came before them. */
static void constructors(void)
{
    count_many(DAWN_CONSTRUCTED, DAWN_BLOCKS);
    for (int i = 0; i < DAWN_BLOCKS; i += 2)
        drop(dawn_made()->constructed[i], DAWN_CONSTRUCTED);
    for (int i = 1; i < DAWN_BLOCKS; i++)
        drop(first[i], 13037);
    work(13049, 10);
}

HOSTILE_CASES({"relocation", relocation}, {"constructors", constructors})

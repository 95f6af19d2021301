/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * own_new: a program with global operators of its own, which keep a word before
 * every block.
 */
#include "hostile.h"

#include <new>

static void *take(size_t size)
{
    size_t *block = static_cast<size_t *>(malloc(size + 16));
    if (block == nullptr)
        throw std::bad_alloc();
    count_made(size + 16);
    block[0] = size;
    return block + 2;
}

void *operator new(size_t size)
{
    return take(size);
}

void operator delete(void *block) noexcept
{
    if (block != nullptr) {
        size_t *start = static_cast<size_t *>(block) - 2;
        count_freed(start[0] + 16);
        free(start);
    }
}

void operator delete(void *block, size_t) noexcept
{
    operator delete(block);
}

struct Thing {
    char room[9835];
};

static void own_operators()
{
    for (int i = 0; i < 20; i++) {
        Thing *thing = new Thing;
        truth_keep(thing);
        if (i % 2 == 0)
            delete thing;
    }
}

HOSTILE_CASES({"own_operators", own_operators})

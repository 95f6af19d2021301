/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * fresh: fills blocks and releases them, asks for others of the same sizes in every
 * way there is, and counts those in which a byte is not zero.
 */
#include "truth.h"

#include <malloc.h>

enum { ROUNDS = 200, SIZE = 1000, ALIGNMENT = 64 };

static void dirty(void)
{
    void *blocks[32];
    for (int i = 0; i < 32; i++) {
        blocks[i] = truth_keep(malloc(SIZE + 64 * (size_t)(i % 4)));
        memset(blocks[i], 0x5a, SIZE);
    }
    for (int i = 0; i < 32; i++)
        free(blocks[i]);
}

static int is_dirty(const unsigned char *block, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (block[i] != 0)
            return 1;
    }
    return 0;
}

static int check(void *block)
{
    int dirty_block = is_dirty(truth_keep(block), SIZE);
    free(block);
    return dirty_block;
}

static void *grown(void)
{
    void *block = truth_keep(calloc(1, 10));
    return realloc(block, SIZE);
}

/* The last step finds room in what the allocator gave before. */
static void *grown_in_steps(void)
{
    void *block = truth_keep(realloc(truth_keep(calloc(1, 10)), SIZE - 7));
    return realloc(block, SIZE);
}

static void *grown_from_aligned(void)
{
    return realloc(truth_keep(memalign(ALIGNMENT, SIZE - 7)), SIZE);
}

static void *posix(void)
{
    void *block = NULL;
    return posix_memalign(&block, ALIGNMENT, SIZE) == 0 ? block : NULL;
}

int main(void)
{
    int plain = 0, others = 0;
    for (int i = 0; i < ROUNDS; i++) {
        dirty();
        plain += check(malloc(SIZE));
        dirty();
        others += check(grown()) + check(grown_in_steps()) + check(grown_from_aligned()) +
                  check(realloc(NULL, SIZE)) + check(posix()) + check(memalign(ALIGNMENT, SIZE)) +
                  check(aligned_alloc(ALIGNMENT, SIZE)) + check(valloc(SIZE)) + check(pvalloc(SIZE));
    }
    truth_add("{\"malloc\": %d, \"others\": %d}\n", plain, others);
    truth_tell(1);
    return 0;
}

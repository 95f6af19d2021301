/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * arenas: threads that allocate at the same time, and for each block what glibc says of its arena in the word
 * before it, as the program itself sees it.
 * build: -O1 -pthread
 *
 * Each thread makes its items in rounds; between two rounds all wait for each other.  An item is released, or made
 * larger by realloc, by the next thread in the round after it was made, so that blocks change hands; no two have the
 * same size.  Besides, each thread makes many short-lived ones, which fill several chunks of a recording, and
 * the second more than a heap of its arena can hold.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "truth.h"

#define NOINLINE __attribute__((noinline, noclone))

enum { THREADS = 4, ROUNDS = 6, EACH = 24, ITEMS = THREADS * ROUNDS * EACH };
enum { MANY = 12000, RING = 64, WIDE = 800, WIDE_SIZE = 100000, LARGE = 300000 /* get mappings at first */ };
enum maker { MAKE_PLAIN, MAKE_ZEROED, MAKE_ALIGNED, MAKE_AGAIN };

/* Room for those that a realloc makes of others. */
static struct item {
    size_t size, usable;
    enum maker maker;
    bool is_other, is_mapped, is_left;
    void *block;
} items[2 * ITEMS];

/* By arena: 0 main, 1 other. */
static struct sum {
    uint64_t blocks, bytes;
} many[THREADS][2], wide[2];

static void *wide_blocks[WIDE];
static pthread_barrier_t all;
static bool has_pause; /* long enough for a recorder to begin another file */

static unsigned arena_of(const void *block)
{
    return ((const size_t *)block)[-1] >> 2 & 1;
}

static NOINLINE void *make_plain(size_t size)
{
    return truth_keep(malloc(size));
}

static NOINLINE void *make_zeroed(size_t size)
{
    return truth_keep(calloc(1, size));
}

static NOINLINE void *make_aligned(size_t size)
{
    void *block = NULL;
    if (posix_memalign(&block, 512, size) != 0)
        _exit(97);
    return truth_keep(block);
}

static NOINLINE void *make_again(void *old, size_t size)
{
    return truth_keep(realloc(old, size));
}

static NOINLINE void *make_many(size_t size)
{
    return truth_keep(malloc(size));
}

static NOINLINE void *make_wide(size_t size)
{
    return truth_keep(malloc(size));
}

static void look(struct item *it, void *block)
{
    it->block = block;
    it->is_left = true;
    it->usable = malloc_usable_size(block);
    it->is_other = arena_of(block) != 0;
    it->is_mapped = (((const size_t *)block)[-1] & 2) != 0;
}

static void make(int number)
{
    struct item *it = &items[number];
    it->maker = (enum maker)(number % 3);
    it->size = (number % 7 == 0 ? LARGE : 1000) + 3 * (size_t)number;
    look(it, it->maker == MAKE_PLAIN    ? make_plain(it->size)
             : it->maker == MAKE_ZEROED ? make_zeroed(it->size)
                                        : make_aligned(it->size));
}

static void pass_on(int number)
{
    struct item *it = &items[number];
    if (number % 5 == 0)
        return;
    it->is_left = false;
    if (number % 5 == 1) {
        struct item *next = &items[ITEMS + number];
        next->maker = MAKE_AGAIN;
        next->size = it->size + 200000;
        look(next, make_again(it->block, next->size));
    } else {
        free(it->block);
    }
}

static void churn(int thread)
{
    void *ring[RING] = {0};
    uint32_t state = 17 + (uint32_t)thread;
    for (int i = 0; i < MANY; i++) {
        state = state * 1664525u + 1013904223u;
        size_t size = 60 + (state >> 8) % 800;
        free(ring[i % RING]);
        ring[i % RING] = make_many(size);
        struct sum *s = &many[thread][arena_of(ring[i % RING])];
        s->blocks++;
        s->bytes += size;
    }
    for (int i = 0; i < RING; i++)
        free(ring[i]);
}

static void spread(void)
{
    for (int i = 0; i < WIDE; i++) {
        wide_blocks[i] = make_wide(WIDE_SIZE + (size_t)i);
        struct sum *s = &wide[arena_of(wide_blocks[i])];
        s->blocks++;
        s->bytes += WIDE_SIZE + (size_t)i;
    }
}

static void *run(void *argument)
{
    int thread = (int)(intptr_t)argument;
    for (int round = 0; round <= ROUNDS; round++) {
        int from = ((round - 1) * THREADS + (thread + 1) % THREADS) * EACH;
        for (int i = 0; i < EACH && round > 0; i++)
            pass_on(from + i);
        for (int i = 0; i < EACH && round < ROUNDS; i++)
            make((round * THREADS + thread) * EACH + i);
        if (round == 2)
            churn(thread);
        if (round == 2 && thread == 0 && has_pause)
            usleep(300000);
        if (round == 3 && thread == 1)
            spread();
        pthread_barrier_wait(&all);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static const char *const makers[] = {"make_plain", "make_zeroed", "make_aligned", "make_again"};
    pthread_t threads[THREADS];
    has_pause = argc > 1 && strcmp(argv[1], "pause") == 0;
    pthread_barrier_init(&all, NULL, THREADS);
    for (int i = 1; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i) != 0)
            _exit(96);
    run(NULL);
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct sum sums[2] = {wide[0], wide[1]};
    truth_add("{\"many\": [");
    for (int arena = 0; arena < 2; arena++) {
        for (int i = 0; i < THREADS; i++) {
            sums[arena].blocks += many[i][arena].blocks;
            sums[arena].bytes += many[i][arena].bytes;
        }
        truth_add("%s[%lu, %lu]", arena == 0 ? "" : ", ", sums[arena].blocks, sums[arena].bytes);
    }
    truth_add("], \"items\": [");
    for (int i = 0, told = 0; i < 2 * ITEMS; i++) {
        const struct item *it = &items[i];
        if (it->size != 0)
            truth_add("%s{\"size\": %zu, \"usable\": %zu, \"maker\": \"%s\", \"other\": %d, \"mapped\": %d, "
                      "\"left\": %d}",
                      told++ == 0 ? "" : ", ", it->size, it->usable, makers[it->maker], it->is_other,
                      it->is_mapped, it->is_left);
    }
    truth_add("]}\n");
    truth_tell(1);
    return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * turnover BLOCKS [THREADS]: makes BLOCKS blocks of random sizes by three functions, in
 * each thread, and frees them in random order; a tenth of the slots is left at the end.
 * Prints what each function has made and what is left of it.  Half way, and when nothing
 * more comes, it says so to heapwake: tags `half` and `done`.  After each tenth it waits until
 * all is written, so that what the recorder does by size does not depend on its speed.
 * build: -I{root}/include
 */
#include <heapwake.h>

#include "truth.h"

#include <pthread.h>
#include <stdint.h>

enum { SLOTS = 4096, MAKERS = 3, THREADS_MAX = 64 };

struct account {
    uint64_t blocks, bytes, left_blocks, left_bytes;
};

struct slot {
    void *block;
    size_t size;
    int maker;
};

struct work {
    struct account accounts[MAKERS];
    struct slot slots[SLOTS];
    long blocks;
    uint64_t seed;
};

static struct work works[THREADS_MAX];

static uint64_t any(struct work *w)
{
    w->seed ^= w->seed << 13;
    w->seed ^= w->seed >> 7;
    w->seed ^= w->seed << 17;
    return w->seed;
}

__attribute__((noinline)) static void *make_small(size_t size)
{
    void *block = malloc(size);
    __asm__ volatile("# small"); /* or they were one function to the compiler */
    return truth_keep(block);
}

__attribute__((noinline)) static void *make_medium(size_t size)
{
    void *block = malloc(size);
    __asm__ volatile("# medium"); /* or they were one function to the compiler */
    return truth_keep(block);
}

__attribute__((noinline)) static void *make_large(size_t size)
{
    void *block = malloc(size);
    __asm__ volatile("# large"); /* or they were one function to the compiler */
    return truth_keep(block);
}

static void make(struct work *w, struct slot *s)
{
    uint64_t r = any(w) % 1000;
    s->maker = r < 900 ? 0 : r < 995 ? 1 : 2;
    s->size = s->maker == 0   ? 8 + (size_t)(any(w) % 200)
              : s->maker == 1 ? 1000 + (size_t)(any(w) % 9000)
                              : 50000 + (size_t)(any(w) % 500000);
    s->block = s->maker == 0   ? make_small(s->size)
               : s->maker == 1 ? make_medium(s->size)
                               : make_large(s->size);
    if (s->block == NULL)
        _exit(97);
    struct account *a = &w->accounts[s->maker];
    a->blocks++;
    a->bytes += s->size;
    a->left_blocks++;
    a->left_bytes += s->size;
}

static void drop(struct work *w, struct slot *s)
{
    if (s->block == NULL)
        return;
    free(s->block);
    s->block = NULL;
    w->accounts[s->maker].left_blocks--;
    w->accounts[s->maker].left_bytes -= s->size;
}

static void *churn(void *of)
{
    struct work *w = of;
    for (long i = 0; i < w->blocks; i++) {
        struct slot *s = &w->slots[any(w) % SLOTS];
        if (w == works && i == w->blocks / 2)
            HEAPWAKE_TAG("half");
        if (w == works && i % (w->blocks / 10 + 1) == 0)
            (void)HEAPWAKE_FLUSH();
        drop(w, s);
        make(w, s);
    }
    for (int i = SLOTS / 10; i < SLOTS; i++)
        drop(w, &w->slots[i]);
    return NULL;
}

int main(int argc, char **argv)
{
    static const char *const names[MAKERS] = {"make_small", "make_medium", "make_large"};
    long blocks = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    pthread_t running[THREADS_MAX];
    for (int i = 0; i < threads && i < THREADS_MAX; i++) {
        works[i].blocks = blocks;
        works[i].seed = 88172645463325252u + (uint64_t)i * 7919;
    }
    for (int i = 1; i < threads && i < THREADS_MAX; i++)
        if (pthread_create(&running[i], NULL, churn, &works[i]) != 0)
            return 97;
    churn(&works[0]);
    for (int i = 1; i < threads && i < THREADS_MAX; i++)
        pthread_join(running[i], NULL);
    HEAPWAKE_TAG("done");
    truth_add("{");
    for (int m = 0; m < MAKERS; m++) {
        struct account sum = {0};
        for (int i = 0; i < THREADS_MAX; i++) {
            sum.blocks += works[i].accounts[m].blocks;
            sum.bytes += works[i].accounts[m].bytes;
            sum.left_blocks += works[i].accounts[m].left_blocks;
            sum.left_bytes += works[i].accounts[m].left_bytes;
        }
        truth_add(
            "%s\"%s\": {\"blocks\": %llu, \"bytes\": %llu, \"left_blocks\": %llu, \"left_bytes\": %llu}",
            m == 0 ? "" : ", ", names[m], (unsigned long long)sum.blocks, (unsigned long long)sum.bytes,
            (unsigned long long)sum.left_blocks, (unsigned long long)sum.left_bytes);
    }
    truth_add("}\n");
    truth_tell(1);
    return 0;
}

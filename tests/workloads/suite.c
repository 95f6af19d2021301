/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * suite MODE: what the tests of an older profiler do, each block with a size of its own.
 * build: -I{root}/include
 *
 *     basic          six blocks, one chain, one mapping
 *     spawn          two blocks, then a child that is `suite basic`
 *     switch HOW     begins switched off; HOW: signal or api. Two threads; a block is freed while off
 *     fork           a thread, a child with a thread of its own; a line for each block
 *     end HOW        a block, then exit, _exit or _Exit
 *     cull           short and long lives of one site, a chain, and what is never freed
 *     cross          blocks that other threads free, while their maker lives and after it has ended
 *     heap           blocks of whatever allocator there is, one of them made in a constructor that
 *                    walks the auxiliary vector; says their usable sizes
 *
 * Lives that are long last 50 ms at least; how long short ones last nobody can promise.
 */
#include <heapwake.h>

#include "truth.h"

#include <elf.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static void must(bool fine)
{
    if (!fine)
        _exit(97);
}

static NOINLINE void *make(size_t size)
{
    return truth_keep(malloc(size));
}

static void pass_time(void)
{
    struct timespec left = {0, 50000000};
    while (nanosleep(&left, &left) != 0) {
    }
}

static pthread_t begin(void *(*run)(void *), void *of)
{
    pthread_t thread;
    must(pthread_create(&thread, NULL, run, of) == 0);
    return thread;
}

/* ------------------------------------------------------------------ basic, spawn */

static NOINLINE void basic(void)
{
    void *aligned = NULL;
    truth_keep(malloc(10));
    void *freed = truth_keep(malloc(100));
    free(freed);
    void *chain = truth_keep(malloc(1000));
    truth_keep(realloc(chain, 10000));
    truth_keep(calloc(100, 1000));
    must(posix_memalign(&aligned, 65536, 1000000) == 0);
    truth_keep(aligned);
    void *page = truth_keep(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    must(munmap(page, 4096) == 0);
}

static void spawn(char *self)
{
    char mode[] = "basic", *arguments[] = {self, mode, NULL};
    int status;
    make(7771);
    pid_t child = fork();
    if (child == 0) {
        execv(self, arguments);
        _exit(96);
    }
    must(waitpid(child, &status, 0) == child && status == 0);
    make(7772);
    truth_add("{\"parent\": %d, \"child\": %d}\n", getpid(), child);
    truth_tell(1);
}

/* ------------------------------------------------------------------------ switch */

static bool by_signal;

/* Recording goes on or off, and this returns when it has. */
static void turn(int on)
{
    if (by_signal)
        must(kill(getpid(), SIGUSR1) == 0);
    else if (on)
        HEAPWAKE_ENABLE();
    else
        HEAPWAKE_DISABLE();
    while (HEAPWAKE_IS_ENABLED() != on)
        usleep(1000);
}

static void *make_here(void *size)
{
    return make((size_t)(uintptr_t)size);
}

static void *make_there(size_t size)
{
    void *block;
    must(pthread_join(begin(make_here, (void *)(uintptr_t)size), &block) == 0);
    return block;
}

static void switched(void)
{
    must(HEAPWAKE_IS_ENABLED() == 0);
    make(7601); /* off: nobody hears of it */
    make_there(7602);
    turn(1);
    void *freed_on = make(7611), *freed_off = make(7612);
    make_there(7613);
    free(freed_on);
    turn(0);
    free(freed_off);
    make(7603);
    make_there(7604);
    turn(1);
    make(7614);
    make_there(7615);
}

/* -------------------------------------------------------------------------- fork */

static void *make_and_tell(void *size)
{
    char line[96];
    void *block = make((size_t)(uintptr_t)size);
    int length = snprintf(line, sizeof line, "{\"pid\": %d, \"tid\": %d, \"size\": %d}\n", getpid(), gettid(),
                          (int)(uintptr_t)size);
    must(write(1, line, (size_t)length) == length);
    return block;
}

static void tell_there(size_t size)
{
    must(pthread_join(begin(make_and_tell, (void *)(uintptr_t)size), NULL) == 0);
}

static void forked(void)
{
    int status;
    make_and_tell((void *)7701);
    tell_there(7702);
    pid_t child = fork();
    if (child == 0) {
        make_and_tell((void *)7711);
        tell_there(7712);
        _exit(0);
    }
    make_and_tell((void *)7703);
    must(waitpid(child, &status, 0) == child && status == 0);
    tell_there(7704);
    make_and_tell((void *)7705);
}

static void end(const char *how)
{
    make(7721);
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    if (strcmp(how, "_Exit") == 0)
        _Exit(0);
    exit(0);
}

/* ------------------------------------------------------------------- cull, cross */

static NOINLINE void brief(void)
{
    free(truth_keep(malloc(7801)));
}

static NOINLINE void *twice(void)
{
    return truth_keep(malloc(7802));
}

static NOINLINE void *chain(void)
{
    void *first = truth_keep(malloc(7803));
    return truth_keep(realloc(first, 7804));
}

static void cull(void)
{
    void *first = NULL;
    for (int i = 0; i < 2; i++) {
        void *block = twice();
        first = i == 0 ? block : first;
    }
    void *grown = chain();
    make(7805);
    brief();
    pass_time();
    free(first);
    free(grown);
}

static pthread_barrier_t barrier;
static void *handed[3];

static void *make_three(void *unused)
{
    for (int i = 0; i < 3; i++)
        handed[i] = make(7811 + (size_t)i);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier); /* it lives while the first is freed */
    return unused;
}

static void *free_last(void *unused)
{
    free(handed[2]);
    return unused;
}

static void cross(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_t maker = begin(make_three, NULL);
    pthread_barrier_wait(&barrier);
    pass_time();
    free(handed[0]);
    pthread_barrier_wait(&barrier);
    must(pthread_join(maker, NULL) == 0);
    free(handed[1]);
    must(pthread_join(begin(free_last, NULL), NULL) == 0);
}

/* -------------------------------------------------------------------------- heap */

static size_t page_size, entries, early_usable;

static void walk(int argc, char **argv, char **environment);
__attribute__((section(".init_array"), used)) static void (*const walk_early)(int, char **, char **) = walk;

/* Behind the environment lies what the kernel has told the program. */
static void walk(int argc, char **argv, char **environment)
{
    if (argc < 2 || strcmp(argv[1], "heap") != 0)
        return;
    while (*environment != NULL)
        environment++;
    for (const Elf64_auxv_t *a = (const Elf64_auxv_t *)(const void *)(environment + 1); a->a_type != AT_NULL;
         a++) {
        entries++;
        page_size = a->a_type == AT_PAGESZ ? a->a_un.a_val : page_size;
    }
    early_usable = malloc_usable_size(make(7901));
}

static void heap(void)
{
    void *freed = make(7902), *first = make(7904);
    size_t usable[] = {early_usable, malloc_usable_size(freed), 0, malloc_usable_size(first), 0};
    free(freed);
    usable[2] = malloc_usable_size(truth_keep(calloc(1, 7903)));
    usable[4] = malloc_usable_size(truth_keep(realloc(first, 17905)));
    truth_add("{\"page_size\": %zu, \"entries\": %zu, \"usable\": [%zu, %zu, %zu, %zu, %zu]}\n", page_size,
              entries, usable[0], usable[1], usable[2], usable[3], usable[4]);
    truth_tell(1);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "", *how = argc > 2 ? argv[2] : "";
    by_signal = strcmp(how, "signal") == 0;
    if (strcmp(mode, "basic") == 0)
        basic();
    else if (strcmp(mode, "spawn") == 0)
        spawn(argv[0]);
    else if (strcmp(mode, "switch") == 0)
        switched();
    else if (strcmp(mode, "fork") == 0)
        forked();
    else if (strcmp(mode, "end") == 0)
        end(how);
    else if (strcmp(mode, "cull") == 0)
        cull();
    else if (strcmp(mode, "cross") == 0)
        cross();
    else
        heap();
    return 0;
}

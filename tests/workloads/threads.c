/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * threads MODE [COUNT]: threads as programs use and misuse them.
 *
 *   many      COUNT threads, a few at a time
 *   live      COUNT threads that live at the same time, on small stacks
 *   mainexit  main ends first, with pthread_exit; a worker goes on
 *   cancel    a cancellation that is pending must not strike inside malloc
 *   async     asynchronous cancellation; the cleanup handlers allocate
 *   keys      destructors of keys allocate and release, in all four rounds
 *   names     threads get their names late
 *   tiny      threads on the smallest stacks that there are
 */
#include "truth.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>

static atomic_long made, freed, threads_seen;
static pthread_barrier_t together;
static long count;

static void *make(size_t size)
{
    made++;
    return truth_keep(malloc(size));
}

static void drop(void *block)
{
    freed++;
    free(block);
}

static pthread_t start(void *(*run)(void *), void *argument, size_t stack)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (stack != 0)
        pthread_attr_setstacksize(&attributes, stack);
    if (pthread_create(&thread, &attributes, run, argument) != 0)
        _exit(97);
    pthread_attr_destroy(&attributes);
    threads_seen++;
    return thread;
}

static void *short_life(void *argument)
{
    (void)argument;
    drop(make(7069));
    make(7069);
    return NULL;
}

static void many(void)
{
    enum { BATCH = 8 };
    pthread_t thread[BATCH];
    for (long done = 0; done < count; done += BATCH) {
        for (int i = 0; i < BATCH; i++)
            thread[i] = start(short_life, NULL, 65536);
        for (int i = 0; i < BATCH; i++)
            pthread_join(thread[i], NULL);
    }
}

static void *long_life(void *argument)
{
    short_life(argument);
    pthread_barrier_wait(&together);
    short_life(argument);
    return NULL;
}

static void live(void)
{
    pthread_t *thread = calloc((size_t)count, sizeof *thread);
    pthread_barrier_init(&together, NULL, (unsigned)count + 1);
    for (long i = 0; i < count; i++)
        thread[i] = start(long_life, NULL, 65536);
    pthread_barrier_wait(&together);
    for (long i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    free(thread);
}

static void tell(void)
{
    truth_add("{\"made\": %ld, \"freed\": %ld, \"threads\": %ld}\n", made, freed, threads_seen + 1);
    truth_tell(1);
}

static void *outlive(void *argument)
{
    pthread_join(*(pthread_t *)argument, NULL);
    for (int i = 0; i < 1000; i++)
        short_life(NULL);
    tell();
    return NULL;
}

static void mainexit(void)
{
    static pthread_t first;
    first = pthread_self();
    short_life(NULL);
    start(outlive, &first, 0);
    pthread_exit(NULL);
}

static atomic_int phase;

static void *pending(void *argument)
{
    (void)argument;
    phase = 1;
    while (phase != 2)
        __asm__ volatile("pause");
    for (int i = 0; i < 20000; i++)
        short_life(NULL);
    phase = 3;
    pthread_testcancel();
    phase = 4;
    return NULL;
}

static void cancel(void)
{
    void *result;
    pthread_t thread = start(pending, NULL, 0);
    while (phase != 1)
        __asm__ volatile("pause");
    pthread_cancel(thread);
    phase = 2;
    pthread_join(thread, &result);
    if (result != PTHREAD_CANCELED || phase != 3)
        _exit(96);
}

static void clean(void *argument)
{
    drop(argument);
    make(7069);
}

static void *spin(void *argument)
{
    (void)argument;
    void *block = make(7069);
    pthread_cleanup_push(clean, block);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    phase++;
    for (;;)
        __asm__ volatile("pause");
    pthread_cleanup_pop(1);
}

static void async(void)
{
    for (int i = 0; i < 200; i++) {
        phase = 0;
        pthread_t thread = start(spin, NULL, 0);
        while (phase == 0)
            __asm__ volatile("pause");
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
}

static pthread_key_t keys[40];

static void again(void *value)
{
    uintptr_t key = *(uintptr_t *)value;
    drop(value);
    if (key % 4 == 0) /* once more, until libc has had enough: the last one leaks */
        pthread_setspecific(keys[key], memcpy(make(7069), &key, sizeof key));
}

static void *with_keys(void *argument)
{
    (void)argument;
    for (uintptr_t i = 0; i < 40; i++)
        pthread_setspecific(keys[i], memcpy(make(7069), &i, sizeof i));
    return NULL;
}

static void key_mode(void)
{
    for (int i = 0; i < 40; i++)
        pthread_key_create(&keys[i], again);
    for (int i = 0; i < 100; i++)
        pthread_join(start(with_keys, NULL, 0), NULL);
}

static void *named_by_itself(void *argument)
{
    short_life(NULL);
    prctl(PR_SET_NAME, "wren-itself");
    short_life(NULL);
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
    return argument;
}

static void *named_by_other(void *argument)
{
    short_life(NULL);
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
    short_life(NULL);
    return argument;
}

static void names(void)
{
    pthread_barrier_init(&together, NULL, 3);
    pthread_t one = start(named_by_itself, NULL, 0), two = start(named_by_other, NULL, 0);
    pthread_barrier_wait(&together);
    pthread_setname_np(two, "finch-by-main");
    pthread_setname_np(pthread_self(), "robin-main");
    pthread_barrier_wait(&together);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}

static void tiny(void)
{
    for (int i = 0; i < 200; i++)
        pthread_join(start(short_life, NULL, PTHREAD_STACK_MIN), NULL);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"many", many},   {"live", live},     {"mainexit", mainexit}, {"cancel", cancel},
                 {"async", async}, {"keys", key_mode}, {"names", names},       {"tiny", tiny}};
    count = argc > 2 ? atol(argv[2]) : 0;
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (argc > 1 && strcmp(argv[1], modes[i].name) == 0) {
            modes[i].run();
            tell();
            return 0;
        }
    }
    return 95;
}

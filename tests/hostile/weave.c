/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * weave CASE: threads at their first and last moments.
 *
 * build: -L{build}/tests/hostile -Wl,-rpath,{build}/tests/hostile
 */
#include "hostile.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <threads.h>

static pthread_key_t key;

static pthread_t start(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, argument) != 0)
        _exit(97);
    return thread;
}

static void run_and_join(void *(*run)(void *), void *argument)
{
    pthread_join(start(run, argument), NULL);
}

static void *open_beside(const char *name, int flags)
{
    void *library = dlopen(name, flags);
    expect(library != NULL, "a library cannot be opened");
    return library;
}

/* A library with thread-local data that is made on first touch, by malloc. */
static void *touch(void *argument)
{
    char *(*room)(void) = (char *(*)(void))dlsym(argument, "lazy_room");
    char *mine = room();
    expect(mine[60000] == 0, "thread-local data is not fresh");
    mine[60000] = 1;
    work(9221, 4);
    return NULL;
}

static void dynamic_tls(void)
{
    void *library = open_beside("liblazy.so", RTLD_NOW);
    for (int i = 0; i < 20; i++)
        run_and_join(touch, library);
    touch(library);
}

/* A library that needs room in the static block, opened late. */
static void static_tls(void)
{
    void *library = open_beside("libgreedy.so", RTLD_NOW);
    char *(*room)(void) = (char *(*)(void))dlsym(library, "greedy_room");
    expect(room()[0] == 0, "thread-local data is not fresh");
    work(9227, 6);
}

/* A thread whose only act is to free what another one made. */
static void *only_free(void *argument)
{
    drop(argument, 9239);
    return NULL;
}

static void only_frees(void)
{
    for (int i = 0; i < 50; i++)
        run_and_join(only_free, make(9239));
}

/* ... and one that does so in the destructor of a key. */
static void *set_key(void *argument)
{
    pthread_setspecific(key, argument);
    return NULL;
}

static void free_in_destructor(void *value)
{
    drop(value, 9241);
}

static void only_frees_late(void)
{
    pthread_key_create(&key, free_in_destructor);
    for (int i = 0; i < 50; i++)
        run_and_join(set_key, make(9241));
}

/* The library that a thread came from is unloaded while the thread still runs. */
static sem_t left_library, may_end;

static void *visit_library(void *argument)
{
    void *(*visit)(size_t) = (void *(*)(size_t))dlsym(argument, "plain_make");
    free(visit(9257));
    count_made(9257);
    count_freed(9257);
    sem_post(&left_library);
    sem_wait(&may_end);
    work(9257, 4);
    return NULL;
}

static void unload_before_end(void)
{
    sem_init(&left_library, 0, 0);
    sem_init(&may_end, 0, 0);
    for (int i = 0; i < 20; i++) {
        void *library = open_beside("libplain.so", RTLD_NOW | RTLD_LOCAL);
        pthread_t thread = start(visit_library, library);
        sem_wait(&left_library);
        dlclose(library);
        sem_post(&may_end);
        pthread_join(thread, NULL);
    }
}

/* All the keys there are. */
static void many_keys(void)
{
    static pthread_key_t keys[2000];
    int count = 0;
    while (pthread_key_create(&keys[count], NULL) == 0)
        count++;
    expect(count >= 1000 && count <= 1024, "keys are missing");
    for (int i = 0; i < count; i++)
        pthread_setspecific(keys[i], &keys[i]);
    work(9277, 10);
    for (int i = 0; i < count; i++)
        expect(pthread_getspecific(keys[i]) == &keys[i], "a key was changed");
}

/* What a process with one thread alone may do. */
static void single_threaded(void)
{
    work(9281, 5);
    int result = unshare(CLONE_NEWUSER);
    expect(result == 0 || errno != EINVAL, "the process has more than one thread");
    work(9281, 5);
}

/* A signal for the process, taken by the one thread that waits for it. */
static void *wait_for_term(void *argument)
{
    int got = 0;
    sigset_t set = *(sigset_t *)argument;
    work(9283, 3);
    expect(sigwait(&set, &got) == 0 && got == SIGTERM, "the signal did not arrive");
    work(9283, 3);
    return NULL;
}

static void sigwait_thread(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (int i = 0; i < 10; i++) {
        pthread_t thread = start(wait_for_term, &set);
        kill(getpid(), SIGTERM);
        pthread_join(thread, NULL);
    }
}

/* pthread_exit with cleanup handlers that allocate, deep in calls. */
static void clean(void *block)
{
    drop(block, 9293);
    make(9293);
}

static NOINLINE void sink_and_exit(int depth)
{
    pthread_cleanup_push(clean, make(9293));
    if (depth == 0)
        pthread_exit(NULL);
    sink_and_exit(depth - 1);
    pthread_cleanup_pop(0);
}

static void *exiting(void *argument)
{
    sink_and_exit((int)(intptr_t)argument);
    return NULL;
}

static void exit_unwinds(void)
{
    for (intptr_t i = 0; i < 20; i++)
        run_and_join(exiting, (void *)i);
}

/* Threads that nobody joins, and that end after main has told. */
static sem_t done;

static void *detached(void *argument)
{
    pthread_detach(pthread_self());
    work(9311, 3);
    sem_post(&done);
    return argument;
}

static void detached_threads(void)
{
    sem_init(&done, 0, 0);
    for (int i = 0; i < 50; i++)
        start(detached, NULL);
    for (int i = 0; i < 50; i++)
        sem_wait(&done);
}

/* C11 threads and their thread-specific storage. */
static int c11_run(void *argument)
{
    tss_set(*(tss_t *)argument, make(9319));
    return 5;
}

static void c11_destroy(void *block)
{
    drop(block, 9319);
}

static void c11_threads(void)
{
    tss_t storage;
    tss_create(&storage, c11_destroy);
    for (int i = 0; i < 20; i++) {
        thrd_t thread;
        int result = 0;
        thrd_create(&thread, c11_run, &storage);
        thrd_join(thread, &result);
        expect(result == 5, "a thread ended in another way");
    }
}

/* A thread on a stack that the program made, with a guard right below. */
static void own_stack(void)
{
    static _Alignas(4096) char room[1 << 15];
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, room, sizeof room);
    for (int i = 0; i < 20; i++) {
        expect(pthread_create(&thread, &attributes, only_free, make(9239)) == 0, "no thread");
        pthread_join(thread, NULL);
    }
}

/* One thread is cancelled while others allocate under a lock of the program. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work_locked(void *argument)
{
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&lock);
        drop(make(9323), 9323);
        pthread_mutex_unlock(&lock);
        pthread_testcancel();
    }
    return argument;
}

static void cancel_storm(void)
{
    for (int i = 0; i < 20; i++) {
        pthread_t one = start(work_locked, NULL), two = start(work_locked, NULL);
        pthread_cancel(one);
        pthread_join(one, NULL);
        pthread_join(two, NULL);
    }
}

HOSTILE_CASES({"dynamic_tls", dynamic_tls}, {"static_tls", static_tls}, {"only_frees", only_frees},
              {"only_frees_late", only_frees_late}, {"unload_before_end", unload_before_end},
              {"many_keys", many_keys}, {"single_threaded", single_threaded},
              {"sigwait_thread", sigwait_thread}, {"exit_unwinds", exit_unwinds},
              {"detached_threads", detached_threads}, {"c11_threads", c11_threads}, {"own_stack", own_stack},
              {"cancel_storm", cancel_storm})

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * strand CASE: threads with little room, threads in great number, threads with names,
 * and one that outlives main.
 */
#include "hostile.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { SLIM = 6 << 10, CROWD = 400, CROWD_STACK = 64 << 10, CROWD_EACH = 64 << 10 };

static pthread_barrier_t together;

static pthread_t start(void *(*run)(void *), void *argument, size_t stack)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (stack != 0 && pthread_attr_setstacksize(&attributes, stack) != 0)
        _exit(97);
    if (pthread_create(&thread, &attributes, run, argument) != 0)
        _exit(94);
    pthread_attr_destroy(&attributes);
    return thread;
}

/* -------------------------------------------------------------- little room */

/* Thread-local data lies at the top of a thread's stack: this much is the program's own. */
static __thread char own_room[SLIM];

static void *slim_run(void *low)
{
    char here;
    memset(own_room, 1, sizeof own_room);
    /* Beside it there are libc's own 5 KiB at most, if nobody else has taken any. */
    expect(low == NULL || &here - (char *)low > PTHREAD_STACK_MIN - SLIM - (5 << 10),
           "room on the stack is gone");
    work(13109, 4);
    return NULL;
}

static void smallest_stacks(void)
{
    size_t size = (size_t)PTHREAD_STACK_MIN;
    char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t threads[20];
    for (int i = 0; i < 20; i++)
        threads[i] = start(slim_run, NULL, size);
    for (int i = 0; i < 20; i++)
        pthread_join(threads[i], NULL);
    pthread_attr_init(&attributes);
    expect(pthread_attr_setstack(&attributes, stack, size) == 0, "no stack");
    for (int i = 0; i < 20; i++) {
        expect(pthread_create(&threads[0], &attributes, slim_run, stack) == 0, "no thread");
        pthread_join(threads[0], NULL);
    }
}

/* ------------------------------------------------------------- great number */

static long resident_pages(void)
{
    char text[128] = "";
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    expect(read(fd, text, sizeof text - 1) > 0, "no /proc/self/statm");
    close(fd);
    return atol(strchr(text, ' ') + 1);
}

static void *crowd_run(void *argument)
{
    work(13121, 4);
    pthread_barrier_wait(&together); /* all are there, and are measured ... */
    pthread_barrier_wait(&together); /* ... before one leaves */
    work(13121, 4);
    return argument;
}

static void crowd(void)
{
    static pthread_t threads[CROWD];
    long before = resident_pages();
    pthread_barrier_init(&together, NULL, CROWD + 1);
    for (int i = 0; i < CROWD; i++)
        threads[i] = start(crowd_run, NULL, CROWD_STACK);
    pthread_barrier_wait(&together);
    long each = (resident_pages() - before) * sysconf(_SC_PAGESIZE) / CROWD;
    pthread_barrier_wait(&together);
    for (int i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
    expect(each < CROWD_EACH, "threads take too much memory");
}

/* ------------------------------------------------------------------- names */

static sem_t was_named, may_be_named;

static void *names_itself(void *tid)
{
    *(int *)tid = (int)syscall(SYS_gettid);
    work(13127, 2);
    prctl(PR_SET_NAME, "wren-itself");
    work(13127, 2);
    return NULL;
}

static void *named_before_first(void *tid)
{
    sem_wait(&was_named);
    *(int *)tid = (int)syscall(SYS_gettid);
    work(13127, 2);
    return NULL;
}

static void *named_by_another(void *tid)
{
    *(int *)tid = (int)syscall(SYS_gettid);
    work(13127, 2);
    sem_post(&may_be_named);
    sem_wait(&was_named);
    work(13127, 2);
    return NULL;
}

static void *never_named(void *tid)
{
    *(int *)tid = (int)syscall(SYS_gettid);
    work(13127, 2);
    return NULL;
}

/* Runs it, gives it that name from outside, at the moment that it waits for. */
static void run_named(void *(*run)(void *), const char *name, int is_known)
{
    int tid;
    pthread_t thread = start(run, &tid, 0);
    if (is_known)
        sem_wait(&may_be_named);
    expect(pthread_setname_np(thread, name) == 0, "no name");
    sem_post(&was_named);
    pthread_join(thread, NULL);
    expect_name(tid, name);
}

/* glibc gives the same pthread_t to one after the other. */
static void names(void)
{
    int tid;
    sem_init(&was_named, 0, 0);
    sem_init(&may_be_named, 0, 0);
    pthread_join(start(names_itself, &tid, 0), NULL);
    expect_name(tid, "wren-itself");
    run_named(named_by_another, "finch-by-main", 1);
    run_named(named_before_first, "robin-first", 0);
    run_named(named_by_another, "siskin-by-main", 1);
    pthread_join(start(never_named, &tid, 0), NULL);
    expect_name(tid, "strand");
    pthread_setname_np(pthread_self(), "owl-main");
    expect_name((int)getpid(), "owl-main");
    work(13127, 2);
}

/* -------------------------------------------------------------- without main */

static void *outlive(void *first)
{
    pthread_join(*(pthread_t *)first, NULL);
    work(13147, 200);
    tell();
    return NULL; /* the last thread: the process ends here, or somebody keeps it */
}

static void main_leaves(void)
{
    static pthread_t first;
    first = pthread_self();
    work(13147, 4);
    start(outlive, &first, 0);
    pthread_exit(NULL);
}

HOSTILE_CASES({"smallest_stacks", smallest_stacks}, {"crowd", crowd}, {"names", names},
              {"main_leaves", main_leaves})

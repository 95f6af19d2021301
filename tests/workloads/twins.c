/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * twins MODE: handlers that come when there is a second of something, at every so many instructions (the trap flag).
 *
 *   within  a handler forks in the middle of a malloc and of its free; the child goes on there, but only
 *           when its parent has done a great deal more
 *   apart   the same, with children that are not recorded
 *   limit   the same, with children that cannot be: no file may have a byte
 *   begun   a handler allocates in a child that has just been forked, before fork has returned
 *   first   a handler allocates in the middle of a thread's first malloc
 *
 * build: -L{build}/tests/workloads -lsafealloc -Wl,-rpath,{build}/tests/workloads
 */
#include "truth.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { TRAP_FLAG = 0x100, STRIDE = 17, ROUNDS = 40, STORM = 4000, AFTERWARDS = 20 };

static volatile long steps, stop_at;
static void (*volatile at_stop)(void);
static volatile int forked, bad_ends;
static volatile long handler_made;
static volatile bool is_child;
static pid_t parent; /* whose handler does not count */
static int gate[2];

static void begin_steps(int number, siginfo_t *about, void *context)
{
    (void)number, (void)about;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void step(int number, siginfo_t *about, void *context)
{
    (void)number, (void)about;
    if (steps++ != stop_at && stop_at >= 0)
        return;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    if (stop_at >= 0)
        at_stop();
}

static void allocate_in_handler(int number)
{
    (void)number;
    free(truth_keep(malloc(7069)));
    handler_made += getpid() != parent;
}

static void set_handlers(void)
{
    struct sigaction begin = {.sa_sigaction = begin_steps, .sa_flags = SA_SIGINFO};
    struct sigaction trap = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
    struct sigaction allocate = {.sa_handler = allocate_in_handler};
    sigaction(SIGUSR1, &begin, NULL);
    sigaction(SIGTRAP, &trap, NULL);
    sigaction(SIGUSR2, &allocate, NULL);
}

static void start_steps(long at, void (*then)(void))
{
    steps = 0;
    stop_at = at;
    at_stop = then;
    raise(SIGUSR1);
}

static void end_steps(void)
{
    stop_at = -1; /* the next one is the last */
}

static NOINLINE void *malloc_from(int depth, size_t size)
{
    if (depth == 0)
        return malloc(size);
    return truth_keep(malloc_from(depth - 1, size));
}

static void use(size_t size, int blocks)
{
    for (int i = 0; i < blocks; i++)
        free(truth_keep(malloc_from(i % 5, size)));
}

static void end_child(int pid, long made)
{
    truth_add("{\"pid\": %d, \"made\": %ld}\n", pid, made);
    truth_tell(1);
    _exit(0);
}

static void await(pid_t pid)
{
    int status;
    bad_ends += waitpid(pid, &status, 0) != pid || status != 0;
}

/* ----------------------------------------------------------- a child within */

static void fork_here(void)
{
    char go;
    forked = stop_at / STRIDE % 2 == 0 ? fork() : _Fork();
    is_child = forked == 0;
    if (is_child && read(gate[0], &go, 1) != 1)
        _exit(95);
}

static void within_mode(bool is_apart)
{
    long rounds = 0;
    for (long at = 0;; at += STRIDE, rounds++) {
        if (pipe(gate) != 0)
            _exit(97);
        use(53, 10);
        forked = -1;
        start_steps(at, fork_here);
        free(truth_keep(malloc_from((int)(rounds % 6), 101)));
        end_steps();
        if (is_child) {
            use(7103, AFTERWARDS);
            end_child((int)getpid(), is_apart ? 0 : AFTERWARDS);
        }
        use(53, STORM);
        if (forked < 0)
            break;
        if (write(gate[1], "", 1) != 1)
            _exit(97);
        await(forked);
        close(gate[0]);
        close(gate[1]);
    }
    truth_add("{\"pid\": %d, \"rounds\": %ld, \"made\": %ld, \"bad_ends\": %d}\n", (int)getpid(), rounds,
              (rounds + 1) * (STORM + 10), bad_ends);
}

/* ------------------------------------------------------ a child that begins */

static void alarm_here(void)
{
    raise(SIGUSR2);
}

static long alarm_at;

/* The first moment at which a child may have a handler: glibc 2.41 forks with all signals blocked. */
static void start_steps_of_child(void)
{
    start_steps(alarm_at, alarm_here);
}

/* The number of steps that there were. */
static long begin_child(long at)
{
    if (pipe(gate) != 0)
        _exit(97);
    alarm_at = at;
    pid_t pid = fork();
    if (pid == 0) {
        end_steps();
        long count = steps;
        if (write(gate[1], &count, sizeof count) != sizeof count)
            _exit(97);
        end_child((int)getpid(), handler_made);
    }
    long count = 0;
    if (read(gate[0], &count, sizeof count) != sizeof count)
        _exit(97);
    await(pid);
    close(gate[0]);
    close(gate[1]);
    return count;
}

static void begun_mode(void)
{
    parent = getpid();
    pthread_atfork(NULL, NULL, start_steps_of_child);
    long all = begin_child(1L << 40);
    for (int i = 0; i < ROUNDS; i++)
        begin_child(all * i / ROUNDS);
    truth_add("{\"pid\": %d, \"rounds\": %d, \"bad_ends\": %d}\n", (int)getpid(), ROUNDS + 1, bad_ends);
}

/* ------------------------------------------------- a thread's first event */

static void *first_event(void *at)
{
    start_steps((long)(intptr_t)at, alarm_here);
    free(truth_keep(malloc(101)));
    end_steps();
    return NULL;
}

static void first_mode(void)
{
    long threads = 1;
    for (long at = 0; at < 100000; at += STRIDE, threads++) {
        long before = handler_made;
        pthread_t thread;
        if (pthread_create(&thread, NULL, first_event, (void *)(intptr_t)at) != 0)
            _exit(97);
        pthread_join(thread, NULL);
        if (handler_made == before)
            break;
    }
    truth_add("{\"pid\": %d, \"threads\": %ld, \"made\": %ld}\n", (int)getpid(), threads + 1, handler_made);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    set_handlers();
    if (strcmp(mode, "within") == 0)
        within_mode(false);
    else if (strcmp(mode, "apart") == 0)
        within_mode(true);
    else if (strcmp(mode, "limit") == 0 && setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0}) == 0)
        within_mode(true);
    else if (strcmp(mode, "begun") == 0)
        begun_mode();
    else if (strcmp(mode, "first") == 0)
        first_mode();
    else
        return 96;
    truth_tell(1);
    return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * alarm CASE: signals, where and when nobody wants them.
 */
#include "hostile.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static volatile sig_atomic_t caught;
static sigjmp_buf back;

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    if (sigaction(number, &action, NULL) != 0)
        _exit(97);
}

static void beat(long microseconds)
{
    setitimer(ITIMER_REAL, &(struct itimerval){{0, microseconds}, {0, microseconds}}, NULL);
}

static void count_only(int number)
{
    (void)number;
    caught++;
}

/* A timer without SA_RESTART: every slow call of the program comes back with EINTR. */
static void interrupted_calls(void)
{
    handle(SIGALRM, count_only, 0);
    beat(300);
    int interruptions = 0;
    while (interruptions < 30) {
        drop(make(9623), 9623);
        if (nanosleep(&(struct timespec){0, 2000000}, NULL) == -1 && errno == EINTR)
            interruptions++;
    }
    beat(0);
}

/* The handlers of the program stay its own. */
static void own_handlers(void)
{
    const int numbers[] = {SIGUSR1, SIGUSR2, SIGPROF, SIGSEGV, SIGPIPE, SIGCHLD, SIGTRAP, SIGSYS, SIGRTMIN};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        handle(numbers[i], count_only, 0);
    work(9629, 50);
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        raise(numbers[i]);
    expect(caught == 9, "a handler was replaced");
    expect(sigaction(SIGPROF, NULL, &(struct sigaction){0}) == 0, "sigaction");
}

/* Faults as control flow: a page is opened by the handler, which allocates. */
static char *guarded;

static void open_page(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    drop(make(9631), 9631);
    mprotect((void *)((uintptr_t)info->si_addr & ~(uintptr_t)4095), 4096, PROT_READ | PROT_WRITE);
}

static void faults(void)
{
    struct sigaction action = {.sa_sigaction = open_page, .sa_flags = SA_SIGINFO};
    guarded = mmap(NULL, 64 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &action, NULL);
    for (int i = 0; i < 64; i++) {
        guarded[i * 4096 + 7] = (char)i;
        make(9631);
    }
}

/* A handler on the smallest alternate stack that the system allows, and a little. */
static void on_small_stack(int number)
{
    (void)number;
    drop(make(9643), 9643);
}

static void small_alternate(void)
{
    size_t size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 4096;
    char *room = mmap(NULL, 16 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size = (size + 4095) & ~(size_t)4095;
    mprotect(room + 4096, size, PROT_READ | PROT_WRITE);
    sigaltstack(&(stack_t){.ss_sp = room + 4096, .ss_size = size}, NULL);
    handle(SIGUSR1, on_small_stack, SA_ONSTACK);
    for (int i = 0; i < 50; i++)
        raise(SIGUSR1);
}

/* siglongjmp out of a handler that has allocated, between stacks, many times. */
static void jump_back(int number)
{
    (void)number;
    make(9649);
    siglongjmp(back, 1);
}

static void jumps(void)
{
    static char room[65536];
    sigaltstack(&(stack_t){.ss_sp = room, .ss_size = sizeof room}, NULL);
    handle(SIGUSR1, jump_back, 0);
    handle(SIGUSR2, jump_back, SA_ONSTACK);
    for (volatile int i = 0; i < 100; i++) {
        if (sigsetjmp(back, 1) == 0)
            raise(i % 2 == 0 ? SIGUSR1 : SIGUSR2);
        drop(make(9661), 9661);
    }
}

/* Stopped and continued by a child, again and again. */
static void stopped(void)
{
    int status;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 10; i++) {
            kill(parent, SIGSTOP);
            usleep(500);
            kill(parent, SIGCONT);
            usleep(500);
        }
        _exit(3);
    }
    for (int i = 0; waitpid(pid, &status, WNOHANG) == 0 && i < 20000; i++) {
        drop(make(9677), 9677);
        usleep(50);
    }
}

static void *take_signals(void *argument)
{
    for (int i = 0; i < 200 || caught == 0; i++)
        drop(make(9679), 9679);
    return argument;
}

/* Signals aimed at threads that allocate: pthread_kill from main. */
static void aimed(void)
{
    pthread_t threads[4];
    handle(SIGUSR1, count_only, SA_RESTART);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, take_signals, NULL);
    for (int i = 0; i < 400; i++)
        pthread_kill(threads[i % 4], SIGUSR1);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    expect(caught > 0, "no signal arrived");
}

/* SIGEV_THREAD: libc starts a thread for each expiry. */
static volatile int expired;

static void on_expiry(union sigval value)
{
    (void)value;
    drop(make(9697), 9697);
    __atomic_fetch_add(&expired, 1, __ATOMIC_SEQ_CST);
}

static void timer_threads(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_expiry};
    expect(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "no timer");
    for (int i = 0; i < 10; i++) {
        timer_settime(timer, 0, &(struct itimerspec){.it_value.tv_nsec = 100000}, NULL);
        while (__atomic_load_n(&expired, __ATOMIC_SEQ_CST) <= i)
            usleep(100);
    }
    timer_delete(timer);
}

/* Blocked signals stay pending over allocations, and a descriptor gets them. */
static void by_descriptor(void)
{
    sigset_t set, pending;
    struct signalfd_siginfo got;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    for (int i = 0; i < 20; i++) {
        raise(SIGUSR1);
        work(9719, 4);
        sigpending(&pending);
        expect(sigismember(&pending, SIGUSR1) == 1, "a pending signal was lost");
        expect(read(fd, &got, sizeof got) == (ssize_t)sizeof got && got.ssi_signo == SIGUSR1, "no signal");
    }
}

/* A limit on CPU time strikes in the middle of allocations. */
static void on_cpu_limit(int number)
{
    (void)number;
    tell();
    _exit(31);
}

static void cpu_timer(void)
{
    handle(SIGVTALRM, on_cpu_limit, 0);
    setitimer(ITIMER_VIRTUAL, &(struct itimerval){{0, 0}, {0, 1000}}, NULL);
    for (;;)
        drop(make(9721), 9721);
}

HOSTILE_CASES({"interrupted_calls", interrupted_calls}, {"own_handlers", own_handlers}, {"faults", faults},
              {"small_alternate", small_alternate}, {"jumps", jumps}, {"stopped", stopped}, {"aimed", aimed},
              {"timer_threads", timer_threads}, {"by_descriptor", by_descriptor}, {"cpu_timer", cpu_timer})

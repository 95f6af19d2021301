/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * interrupted [SIGNALS]: signals come without pause while it runs code that never
 * allocates; the handlers do, on the stack they find and on one of their own. So
 * stacks begin at any instruction: in prologues and epilogues, in the PLT, in assembly of
 * the C library, in the vDSO, in system calls, in handlers that are interrupted.
 *
 * Prints how many times each handler ran.
 *
 * build: -fcf-protection=full -Wl,-z,lazy -lm
 */
#include <alloca.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define KEEP(x) __asm__ volatile("" : : "r"(x) : "memory")

enum { SPARE_SIZE = 1 << 18, THREADS = 128 };

static atomic_long plain_count, spare_count;
static long most;
static timer_t timers[2];
static volatile double sink;
static volatile int numbers[40];

/* ----------------------------------------------------------------- handlers */

/* One more signal, at a moment that is not far and never the same. */
static void set_timer(int which)
{
    static atomic_uint seed = 1;
    unsigned random = atomic_fetch_add(&seed, 1) * 2654435761u >> 16;
    const struct itimerspec time = {.it_value.tv_nsec = 2000 + random % 30000};
    if (plain_count + spare_count < most)
        timer_settime(timers[which], 0, &time, NULL);
}

APART static void take(size_t size)
{
    void *block = malloc(size);
    KEEP(block);
    free(block);
}

APART static void take_deeper(long frames, size_t size)
{
    char room[48];
    KEEP(room);
    if (frames == 0)
        take(size);
    else
        take_deeper(frames - 1, size);
    KEEP(room);
}

static void on_plain(int number)
{
    take_deeper(atomic_fetch_add(&plain_count, 1) % 4, 40 + (size_t)number);
    set_timer(0);
}

static void on_spare(int number, siginfo_t *info, void *context)
{
    KEEP(info);
    KEEP(context);
    take_deeper(atomic_fetch_add(&spare_count, 1) % 3, 80 + (size_t)number);
    set_timer(1);
}

/* --------------------------------------------------- what is interrupted */

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

APART static void sort_some(unsigned seed)
{
    int copy[40];
    for (unsigned i = 0; i < 40; i++)
        copy[i] = numbers[i] + (int)((seed * (i + 7)) % 101);
    qsort(copy, 40, sizeof *copy, compare);
    numbers[seed % 40] = copy[3] % 100;
}

APART static uint64_t variable_frame(unsigned n)
{
    char *room = alloca(n % 200 + 16);
    memset(room, (int)n, n % 200 + 16);
    KEEP(room);
    return strlen("some text") + (uint64_t)room[n % 16];
}

APART static void aligned_frame(unsigned n)
{
    _Alignas(128) char room[256];
    memset(room, (int)n, sizeof room);
    KEEP(room);
    sort_some(n);
}

__attribute__((noinline, optimize("no-omit-frame-pointer"))) static unsigned framed(unsigned n)
{
    return n == 0 ? 1 : framed(n - 1) + (unsigned)variable_frame(n) % 3;
}

APART static void many_registers(unsigned n)
{
    uint64_t a = n, b = n * 3, c = n * 5, d = n * 7, e = n * 11, f = n * 13;
    for (unsigned i = 0; i < 20; i++) {
        a += variable_frame(i) ^ b;
        b = b * a + c;
        c ^= d + (b >> 3);
        d += e * 3;
        e ^= f;
        f += a;
    }
    KEEP(a + b + c + d + e + f);
}

/* Pushes and pops that only exact unwind data can follow. */
APART static void pushing(void)
{
    __asm__ volatile("push %%rax; .cfi_adjust_cfa_offset 8\n\t"
                     "push %%rcx; .cfi_adjust_cfa_offset 8\n\t"
                     "nop; nop; nop\n\t"
                     "pop %%rcx; .cfi_adjust_cfa_offset -8\n\t"
                     "pop %%rax; .cfi_adjust_cfa_offset -8"
                     :
                     :
                     : "memory");
}

static void work(void)
{
    for (unsigned n = 1; plain_count + spare_count < most; n++) {
        struct timespec now;
        sort_some(n);
        aligned_frame(n);
        many_registers(n);
        sink += framed(n % 9);
        pushing();
        clock_gettime(CLOCK_MONOTONIC, &now);
        sink += pow(1.0001, n % 50) + sin(n) + (double)(now.tv_nsec % 3);
        sink += (double)syscall(SYS_getppid) + (double)getppid();
    }
}

/* A thread whose only allocation is made in a handler, on a stack of which nothing is
 * known yet; each at another place within a page. */
static __thread size_t shift;

static void on_first(int number)
{
    char *room = alloca(shift);
    KEEP(room);
    take((size_t)number + 100);
    KEEP(room);
}

static void *first_of_thread(void *place)
{
    shift = (size_t)(uintptr_t)place * 64 + 16;
    raise(SIGURG);
    return NULL;
}

static void start_threads(void)
{
    if (signal(SIGURG, on_first) == SIG_ERR)
        _exit(97);
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, first_of_thread, (void *)i);
        pthread_join(thread, NULL);
    }
}

static void start_signals(int which, int number, struct sigaction action)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    if (sigaction(number, &action, NULL) != 0 || timer_create(CLOCK_MONOTONIC, &event, &timers[which]) != 0)
        _exit(97);
    set_timer(which);
}

int main(int argc, char **argv)
{
    static char spare[SPARE_SIZE];
    sigaltstack(&(stack_t){.ss_sp = spare, .ss_size = sizeof spare}, NULL);
    start_threads();
    most = argc > 1 ? atol(argv[1]) : 2000;
    start_signals(0, SIGUSR1, (struct sigaction){.sa_handler = on_plain, .sa_flags = SA_RESTART});
    start_signals(
        1, SIGUSR2,
        (struct sigaction){.sa_sigaction = on_spare, .sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK});
    work();
    printf("plain %ld spare %ld\n", (long)plain_count, (long)spare_count);
    return 0;
}

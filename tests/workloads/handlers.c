/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * handlers MODE [STRIDE]: signal handlers that allocate.
 *
 *   timer   a fast timer, whose handler allocates while main allocates
 *   timers  two of them, whose handlers interrupt each other as well
 *   jump    handlers leave with siglongjmp, out of the middle of malloc
 *   deeper  the same, and every call comes from deeper in the stack than the last
 *   steps   the same out of every single instruction of a malloc that comes from a new
 *           place, and of the free of its block; then malloc again from that place
 *           (or out of every STRIDE-th instruction)
 *   within  a handler allocates after every single instruction of a malloc from a new place,
 *           of its free, of a realloc, and of an mmap
 *   stack   a handler allocates on an alternate stack of the least size + 16 KiB,
 *           with a guard page below
 *   edge    a handler on an alternate stack interrupts a function that is about to return, whose
 *           stack pointer is at the beginning of a page: what it has saved, and will be asked
 *           for, is in the page below
 *
 * build: -L{build}/tests/workloads -lsafealloc -Wl,-rpath,{build}/tests/workloads -lrt
 */
#include "truth.h"

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline, noclone))

static atomic_long handled, handler_made, handler_freed, deepest;
static volatile sig_atomic_t depth;
static sigjmp_buf back;

static void start_timer(int signal_number, long ns)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal_number};
    struct itimerspec time = {{0, ns}, {0, ns}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &time, NULL) != 0)
        _exit(97);
}

static void set_handler(int signal_number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    if (sigaction(signal_number, &action, NULL) != 0)
        _exit(97);
}

static void allocate_in_handler(int signal_number)
{
    (void)signal_number;
    depth++;
    if (depth > deepest)
        deepest = depth;
    void *block = truth_keep(malloc(7069));
    handler_made++;
    if (handled++ % 2 == 0) {
        free(block);
        handler_freed++;
    }
    depth--;
}

static void timer_mode(bool two)
{
    long made = 0, freed = 0;
    set_handler(SIGUSR1, allocate_in_handler, SA_RESTART);
    set_handler(SIGUSR2, allocate_in_handler, SA_RESTART);
    start_timer(SIGUSR1, 100003);
    if (two)
        start_timer(SIGUSR2, 140009);
    while (handled < 3000 || made < 50000) {
        for (int i = 0; i < 20; i++)
            __asm__ volatile("pause");
        void *block = truth_keep(malloc(101));
        made++;
        if (made % 4 != 0) {
            free(block);
            freed++;
        }
    }
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    truth_add(
        "{\"made\": %ld, \"freed\": %ld, \"handler_made\": %ld, \"handler_freed\": %ld, \"depth\": %ld}\n",
        made, freed, handler_made, handler_freed, deepest);
}

static volatile bool may_jump;

static void jump_out(int signal_number)
{
    (void)signal_number;
    handled++;
    if (may_jump)
        siglongjmp(back, 1);
}

static NOINLINE void *malloc_from(int depth, size_t size)
{
    if (depth == 0)
        return malloc(size);
    void *block = malloc_from(depth - 1, size);
    return truth_keep(block);
}

static void jump_mode(bool deeper)
{
    static volatile long begun, done;
    set_handler(SIGUSR1, jump_out, 0);
    start_timer(SIGUSR1, 50000);
    while (handled < (deeper ? 1000 : 4000)) {
        if (sigsetjmp(back, 1) == 0) {
            may_jump = true;
            for (;;) {
                begun++;
                void *block = malloc_from(deeper ? (int)handled : 0, 101);
                done++;
                free(block);
            }
        }
    }
    may_jump = false;
    for (int i = 0; i < 1000; i++)
        malloc_from(deeper ? (int)handled : 0, 7103);
    truth_add("{\"begun\": %ld, \"done\": %ld, \"jumps\": %ld, \"after\": 1000}\n", begun, done, handled);
}

/* A way of its own for each number: its bits say who calls whom. */
static NOINLINE void *malloc_zero(unsigned bits, unsigned left, size_t size);

static NOINLINE void *malloc_one(unsigned bits, unsigned left, size_t size)
{
    if (left == 0)
        return truth_keep(malloc(size));
    return truth_keep((bits & 1) != 0 ? malloc_one(bits >> 1, left - 1, size)
                                      : malloc_zero(bits >> 1, left - 1, size));
}

static NOINLINE void *malloc_zero(unsigned bits, unsigned left, size_t size)
{
    if (left == 0)
        return truth_keep(malloc(size));
    if ((bits & 1) == 0) /* not the words of malloc_one, or compilers make one of both */
        return truth_keep(malloc_zero(bits >> 1, left - 1, size));
    return truth_keep(malloc_one(bits >> 1, left - 1, size));
}

enum { TRAP_FLAG = 0x100, BITS = 13 };
static volatile long steps_left;

static void begin_steps(int signal_number, siginfo_t *about, void *context)
{
    (void)signal_number, (void)about;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void step(int signal_number, siginfo_t *about, void *context)
{
    (void)signal_number, (void)about;
    if (steps_left < 0)
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    else if (steps_left-- == 0)
        siglongjmp(back, 1);
}

/* Until a call comes through whole; and again, since the first finds all that is looked up
 * only once already there. */
static void steps_mode(long stride)
{
    struct sigaction begin = {.sa_sigaction = begin_steps, .sa_flags = SA_SIGINFO};
    struct sigaction trap = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
    static volatile unsigned round, whole;
    static volatile long after;
    sigaction(SIGUSR1, &begin, NULL);
    sigaction(SIGTRAP, &trap, NULL);
    for (; whole < 3 && round < 1 << BITS; round++, after += stride) {
        free(truth_keep(malloc(53))); /* from here, so that each round has the same way to go */
        steps_left = after;
        if (sigsetjmp(back, 1) == 0) {
            raise(SIGUSR1);
            free(malloc_one(round, BITS, 101));
            steps_left = -1;
            whole++;
            after = 0;
        }
        malloc_one(round, BITS, 7103);
    }
    truth_add("{\"rounds\": %u, \"whole\": %u, \"bits\": %d}\n", round, whole, BITS);
}

static void allocate_and_step(int signal_number, siginfo_t *about, void *context)
{
    (void)about;
    allocate_in_handler(signal_number);
    if (steps_left < 0)
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

static void within_mode(void)
{
    struct sigaction begin = {.sa_sigaction = begin_steps, .sa_flags = SA_SIGINFO};
    struct sigaction trap = {.sa_sigaction = allocate_and_step, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &begin, NULL);
    sigaction(SIGTRAP, &trap, NULL);
    raise(SIGUSR1);
    for (unsigned round = 0; round < 2; round++) { /* once cold, once warm */
        free(malloc_one(round, BITS, 101));
        free(realloc(malloc_one(round + 16, 4, 103), 107));
        munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
    }
    steps_left = -1;
    truth_add("{\"handler_made\": %ld, \"handler_freed\": %ld}\n", handler_made, handler_freed);
}

static void stack_mode(void)
{
    size_t size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 16384;
    size = (size + 4095) & ~(size_t)4095;
    char *low = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(low, 4096, PROT_NONE);
    stack_t stack = {.ss_sp = low + 4096, .ss_size = size};
    sigaltstack(&stack, NULL);
    set_handler(SIGUSR1, allocate_in_handler, SA_ONSTACK);
    for (int i = 0; i < 1000; i++)
        raise(SIGUSR1);
    truth_add("{\"handler_made\": %ld, \"handler_freed\": %ld}\n", handler_made, handler_freed);
}

/* The caller's frame hangs on RBP, so whoever does not know what stop_at_edge has saved ends there. */
void call_at_edge(void);
__asm__(".type call_at_edge, @function\n"
        "call_at_edge:\n"
        "  .cfi_startproc\n"
        "  push %rbp\n"
        "  .cfi_def_cfa_offset 16\n"
        "  .cfi_offset %rbp, -16\n"
        "  mov %rsp, %rbp\n"
        "  .cfi_def_cfa_register %rbp\n"
        "  sub $4096, %rsp\n"
        "  and $-4096, %rsp\n"
        "  add $8, %rsp\n"
        "  call stop_at_edge\n"
        "  leave\n"
        "  .cfi_def_cfa %rsp, 8\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size call_at_edge, . - call_at_edge\n"
        ".type stop_at_edge, @function\n"
        "stop_at_edge:\n"
        "  .cfi_startproc\n"
        "  push %rbp\n"
        "  .cfi_def_cfa_offset 16\n"
        "  .cfi_offset %rbp, -16\n"
        "  xor %ebp, %ebp\n"
        "  pop %rbp\n"
        "  .cfi_def_cfa_offset 8\n"
        "  int3\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size stop_at_edge, . - stop_at_edge\n");

static void edge_mode(void)
{
    size_t size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 65536;
    char *low = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = low, .ss_size = size};
    sigaltstack(&stack, NULL);
    set_handler(SIGTRAP, allocate_in_handler, SA_ONSTACK);
    for (int i = 0; i < 10; i++)
        call_at_edge();
    truth_add("{\"handler_made\": %ld, \"handler_freed\": %ld}\n", handler_made, handler_freed);
}

int main(int argc, char **argv)
{
    if (strncmp(argv[1], "timer", 5) == 0)
        timer_mode(argv[1][5] == 's');
    else if (strcmp(argv[1], "jump") == 0 || strcmp(argv[1], "deeper") == 0)
        jump_mode(argv[1][0] == 'd');
    else if (strcmp(argv[1], "steps") == 0)
        steps_mode(argc > 2 ? atol(argv[2]) : 1);
    else if (strcmp(argv[1], "within") == 0)
        within_mode();
    else if (strcmp(argv[1], "edge") == 0)
        edge_mode();
    else
        stack_mode();
    truth_tell(1);
    _exit(0);
}

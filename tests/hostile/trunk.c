/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * trunk CASE: stacks that are to be whole and right, function by function, in code as
 * it is shipped: all optimised at link time, without frame pointers, with parts of
 * functions split off, calls that have become jumps, and handlers on other stacks.
 *
 * build: CC=gcc -O3 -flto -fomit-frame-pointer -fno-ipa-icf
 */
#include "hostile.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

#define INLINE static inline __attribute__((always_inline))
#define COLD __attribute__((noinline, noclone, cold))

static volatile int rounds = 3; /* unknown to the compiler */
static jmp_buf back;

static NOINLINE void grab(size_t size)
{
    drop(make(size), size);
    make(size);
    truth_keep(NULL); /* the call before this is no jump */
}

/* --------------------------------------------------- what optimisers do to code */

/* Inlined into each other, they are frames all the same. */
INLINE void innermost_inlined(size_t size)
{
    grab(size);
    truth_keep(NULL);
}

INLINE void inlined(size_t size)
{
    innermost_inlined(size);
    truth_keep(NULL);
}

static NOINLINE void inlining(size_t size)
{
    inlined(size);
    truth_keep(NULL);
}

/* Calls that are jumps leave no frame: who jumped is not to be seen, who called it is. */
static NOINLINE int jumped_to(size_t size)
{
    grab(size);
    return rounds;
}

static NOINLINE int jumping(size_t size)
{
    return jumped_to(size + (size_t)rounds - 3);
}

static NOINLINE void before_jump(size_t size)
{
    if (jumping(size) != 3)
        _exit(91);
}

/* What is rare is moved far away from the rest of its function. */
static COLD void rarely(size_t size)
{
    grab(size);
    truth_keep(NULL);
}

static NOINLINE int mostly(size_t size, int is_rare)
{
    int sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += i * is_rare;
    if (__builtin_expect(is_rare > 2, 0)) {
        rarely(size);
        sum = sum * rounds + 7;
    }
    return sum;
}

/* The call that never returns is the last instruction: the return address is another function's. */
static COLD __attribute__((noreturn)) void never_returns(size_t size)
{
    grab(size);
    longjmp(back, 1);
}

static NOINLINE __attribute__((noreturn)) void last_call(size_t size)
{
    never_returns(size);
}

/* A frame of which the compiler does not know the size, and one that is aligned anew. */
static NOINLINE void odd_frames(size_t size)
{
    _Alignas(128) char room[256];
    char *more = __builtin_alloca((size_t)rounds * 40);
    truth_keep(memset(room, 1, sizeof room));
    truth_keep(memset(more, 1, (size_t)rounds * 40));
    grab(size);
    truth_keep(room);
    truth_keep(more);
}

static void optimised(void)
{
    expect_stack(13187, "grab innermost_inlined inlined inlining optimised main");
    expect_stack(13217, "grab jumped_to before_jump optimised main");
    expect_stack(13219, "grab rarely mostly optimised main");
    expect_stack(13229, "grab never_returns last_call optimised main");
    expect_stack(13241, "grab odd_frames optimised main");
    for (volatile int i = 0; i < rounds; i++) {
        inlining(13187);
        before_jump(13217);
        expect(mostly(13219, rounds) == 34, "a sum is wrong");
        if (setjmp(back) == 0)
            last_call(13229);
        odd_frames(13241);
    }
}

/* ------------------------------------------------------ handlers on other stacks */

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    grab(number == SIGUSR1 ? 13249 : 13259);
    truth_keep(NULL);
}

/* On the other stack already: interrupts itself once more, and comes back there. */
static void on_outer(int number)
{
    (void)number;
    raise(SIGUSR2);
    truth_keep(NULL);
}

static NOINLINE void interrupted(int number)
{
    char room[300];
    truth_keep(room);
    raise(number);
    truth_keep(room);
}

static NOINLINE void deep_down(int number, int depth)
{
    if (depth > 0)
        deep_down(number, depth - 1);
    else
        interrupted(number);
    truth_keep(NULL);
}

static void handle(int number, void *handler, int flags)
{
    struct sigaction action = {.sa_flags = flags};
    *(void **)&action.sa_handler = handler;
    sigaction(number, &action, NULL);
}

static void other_stack(void *room, size_t size)
{
    expect(sigaltstack(&(stack_t){.ss_sp = room, .ss_size = size}, NULL) == 0, "no other stack");
}

/* The other stack lies below the one that was interrupted, above it, and within it. */
static NOINLINE void on_stacks(size_t size)
{
    static char below[32768];
    char *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *within = __builtin_alloca(size);
    char *const rooms[] = {below, mapped, truth_keep(within)};
    for (int i = 0; i < 3; i++) {
        other_stack(rooms[i], size);
        deep_down(SIGUSR1, 2);
        deep_down(SIGALRM, 2);
        sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    }
    munmap(mapped, size);
}

#define DEEP_DOWN " interrupted deep_down deep_down deep_down on_stacks "

static void *in_thread(void *argument)
{
    on_stacks(32768);
    return argument;
}

static void other_stacks(void)
{
    handle(SIGUSR1, on_signal, SA_SIGINFO | SA_ONSTACK);
    handle(SIGUSR2, on_signal, SA_SIGINFO | SA_ONSTACK);
    handle(SIGALRM, on_outer, SA_ONSTACK);
    expect_stack(13249, "grab on_signal" DEEP_DOWN "other_stacks main");
    expect_stack(13259, "grab on_signal on_outer" DEEP_DOWN "other_stacks main");
    on_stacks(32768);
    truth_keep(NULL);
}

static void other_stacks_thread(void)
{
    pthread_t thread;
    handle(SIGUSR1, on_signal, SA_SIGINFO | SA_ONSTACK);
    handle(SIGUSR2, on_signal, SA_SIGINFO | SA_ONSTACK);
    handle(SIGALRM, on_outer, SA_ONSTACK);
    expect_stack(13249, "grab on_signal" DEEP_DOWN "in_thread");
    expect_stack(13259, "grab on_signal on_outer" DEEP_DOWN "in_thread");
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
}

/* A fault at the first instruction of a function: the address before it is another function's. */
static void on_trap(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    ucontext_t *c = context;
    grab(13267);
    c->uc_mcontext.gregs[REG_RIP] += 2; /* past ud2 */
}

static NOINLINE void first_instruction(void)
{
    __asm__ volatile("ud2");
}

static NOINLINE void before_trap(void)
{
    first_instruction();
    truth_keep(NULL);
}

static void traps(void)
{
    static char room[32768];
    other_stack(room, sizeof room);
    expect_stack(13267, "grab on_trap first_instruction before_trap traps main");
    for (int i = 0; i < rounds; i++) {
        handle(SIGILL, on_trap, i % 2 == 0 ? SA_SIGINFO | SA_ONSTACK : SA_SIGINFO);
        before_trap();
    }
}

HOSTILE_CASES({"optimised", optimised}, {"other_stacks", other_stacks},
              {"other_stacks_thread", other_stacks_thread}, {"traps", traps})

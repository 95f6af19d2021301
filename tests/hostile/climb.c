/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * climb CASE: stacks that are hard to walk.  The stack may be cut, the program
 * must not notice, and every block is there.
 */
#include "hostile.h"

#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

/* ---------------------------------------------------------------- coroutines */

enum { COROUTINES = 8, ROUNDS = 20, STACK = 32768 };

static ucontext_t home, routines[COROUTINES];

static NOINLINE void switch_deep(int me, int depth)
{
    volatile int here = depth;
    if (depth > 0) {
        switch_deep(me, depth - 1);
    } else {
        drop(make(9733), 9733);
        swapcontext(&routines[me], &home);
        make(9733);
    }
    here = here + 1;
}

static void routine(int me)
{
    for (int i = 0; i < ROUNDS / 2; i++)
        switch_deep(me, (me + i) % 7);
}

static void run_coroutines(char *stacks[])
{
    for (int i = 0; i < COROUTINES; i++) {
        getcontext(&routines[i]);
        routines[i].uc_stack.ss_sp = stacks[i];
        routines[i].uc_stack.ss_size = STACK;
        routines[i].uc_link = &home;
        makecontext(&routines[i], (void (*)(void))routine, 1, i);
    }
    for (int round = 0; round <= ROUNDS / 2; round++) {
        for (int i = 0; i < COROUTINES; i++)
            swapcontext(&home, &routines[i]);
    }
}

static void coroutines_heap(void)
{
    char *stacks[COROUTINES];
    for (int i = 0; i < COROUTINES; i++)
        stacks[i] = malloc(STACK);
    run_coroutines(stacks);
    for (int i = 0; i < COROUTINES; i++)
        free(stacks[i]);
}

/* On mappings that go and come back elsewhere, with nothing readable around them. */
static void coroutines_mapped(void)
{
    for (int turn = 0; turn < 3; turn++) {
        char *stacks[COROUTINES], *room[COROUTINES];
        for (int i = 0; i < COROUTINES; i++) {
            room[i] = mmap(NULL, STACK + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            stacks[i] = room[i] + 4096;
            mprotect(stacks[i], STACK, PROT_READ | PROT_WRITE);
        }
        run_coroutines(stacks);
        for (int i = 0; i < COROUTINES; i++)
            munmap(room[i], STACK + 8192);
    }
}

static void *coroutines_here(void *argument)
{
    (void)argument;
    coroutines_mapped();
    return NULL;
}

static void coroutines_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, coroutines_here, NULL);
    pthread_join(thread, NULL);
}

/* ----------------------------------------------------------- code without CFI */

static void block_of(size_t size)
{
    drop(make(size), size);
    make(size);
}

/* Machine code made now: pushes, calls, pops, returns. */
static void (*compile(void (*target)(size_t), int with_garbage))(size_t)
{
    static unsigned used;
    static unsigned char *page;
    if (page == NULL)
        page = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *code = page + used;
    unsigned n = 0;
    used += 128;
    code[n++] = 0x55; /* push %rbp */
    if (with_garbage) {
        static const unsigned char garbage[] = {0x48, 0xc7, 0xc5, 0x39,
                                                0x05, 0x00, 0x00}; /* mov $1337, %rbp */
        memcpy(code + n, garbage, sizeof garbage);
        n += sizeof garbage;
    }
    code[n++] = 0x48, code[n++] = 0xb8; /* mov target, %rax */
    memcpy(code + n, &target, 8);
    n += 8;
    code[n++] = 0xff, code[n++] = 0xd0; /* call *%rax */
    code[n++] = 0x5d;                   /* pop %rbp */
    code[n++] = 0xc3;
    return (void (*)(size_t))(void *)code;
}

static void jit(void)
{
    for (int i = 0; i < 100; i++)
        compile(block_of, i % 2)(9739);
}

/* Nested: compiled code calls C, which calls compiled code. */
static void (*inner)(size_t);

static void call_inner(size_t size)
{
    inner(size);
    make(size);
}

static void jit_nested(void)
{
    inner = compile(block_of, 1);
    for (int i = 0; i < 50; i++)
        compile(call_inner, 1)(9743);
}

/* Functions that say wrong things about their frames. */
void lying_cycle(void (*target)(size_t), size_t size);
void lying_wild(void (*target)(size_t), size_t size);
void lying_silent(void (*target)(size_t), size_t size);
__asm__(
    ".text\n"
    ".type lying_cycle, @function\n"
    "lying_cycle:\n .cfi_startproc\n push %rbp\n mov %rdi, %rax\n mov %rsi, %rdi\n"
    " .cfi_def_cfa %rsp, 0\n call *%rax\n pop %rbp\n ret\n .cfi_endproc\n"
    ".type lying_wild, @function\n"
    "lying_wild:\n .cfi_startproc\n push %rbp\n mov $0x123456789, %rbp\n mov %rdi, %rax\n mov %rsi, %rdi\n"
    " .cfi_def_cfa %rbp, 16\n call *%rax\n pop %rbp\n ret\n .cfi_endproc\n"
    ".type lying_silent, @function\n"
    "lying_silent:\n push %rbp\n xor %ebp, %ebp\n mov %rdi, %rax\n mov %rsi, %rdi\n call *%rax\n pop %rbp\n "
    "ret\n");

static void wrong_cfi(void)
{
    for (int i = 0; i < 30; i++) {
        lying_cycle(block_of, 9749);
        lying_wild(block_of, 9749);
        lying_silent(block_of, 9749);
    }
}

/* --------------------------------------------------------------------- depth */

static NOINLINE int deep(int depth)
{
    volatile int here = depth;
    if (depth == 0)
        work(9767, 4);
    else
        deep(depth - 1);
    return here;
}

static void recursion(void)
{
    for (int i = 0; i < 5; i++)
        deep(20000 + i);
}

/* Little is left above the guard page when malloc is called. */
static size_t room_left;

static NOINLINE void near_guard(char *guard)
{
    char here[512];
    truth_keep(here);
    if (here - guard > (ptrdiff_t)room_left)
        near_guard(guard);
    else
        work(9769, 4);
    truth_keep(here);
}

static void *fill_stack(void *argument)
{
    pthread_attr_t attributes;
    void *low;
    size_t size;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    near_guard(low);
    return argument;
}

static void guard_page(void)
{
    for (room_left = 8192; room_left >= 4096; room_left -= 1024) {
        pthread_t thread;
        pthread_create(&thread, NULL, fill_stack, NULL);
        pthread_join(thread, NULL);
    }
}

/* --------------------------------------------------------------------- jumps */

static jmp_buf out;

static NOINLINE void sink_and_jump(int depth)
{
    volatile int here = depth;
    make(9781);
    if (depth == 0)
        longjmp(out, 1);
    sink_and_jump(depth - 1);
    here = here + 1;
}

static void long_jumps(void)
{
    for (volatile int i = 0; i < 40; i++) {
        if (setjmp(out) == 0)
            sink_and_jump(i % 13);
        drop(make(9787), 9787);
    }
}

/* The stack of main, grown by a lot of alloca and given back. */
static NOINLINE void wide(size_t room)
{
    char *space = __builtin_alloca(room);
    truth_keep(memset(space, 1, room));
    work(9791, 2);
    truth_keep(space);
}

static void wide_frames(void)
{
    for (size_t room = 16; room < (4u << 20); room *= 2)
        wide(room);
    wide(100);
}

HOSTILE_CASES({"coroutines_heap", coroutines_heap}, {"coroutines_mapped", coroutines_mapped},
              {"coroutines_thread", coroutines_thread}, {"jit", jit}, {"jit_nested", jit_nested},
              {"wrong_cfi", wrong_cfi}, {"recursion", recursion}, {"guard_page", guard_page},
              {"long_jumps", long_jumps}, {"wide_frames", wide_frames})

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * jit: blocks made below code that was made at run time; tells for each the return
 * addresses that its stack must have. A case whose name begins with "cut" says that
 * nothing is announced of the code, so that its stack must end there.
 *
 * build: -fomit-frame-pointer -rdynamic -pthread
 */
#define SHADOW_OWNER
#include "machine.h"
#include "shadow.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

enum { TABLE = 2048, THREADS = 3, ROUNDS = 300 };

static const char *volatile name;
static volatile size_t size = 7069;

static NOINLINE void innermost(int padding)
{
    ENTER();
    char room[64 + (padding & 63)];
    truth_keep(room);
    grab(name, size);
    truth_keep(room);
    LEAVE();
}

/* What machine code calls. It tells its own return address, which only it knows. */
static void below(int n, uintptr_t caller)
{
    shadow.at[shadow.depth++] = caller;
    ENTER();
    innermost(n);
    LEAVE();
    LEAVE();
}

static NOINLINE void run(const uint8_t *code, machine_callback *callback, int n)
{
    ENTER();
    machine_function *f;
    *(const void **)&f = code;
    f(callback, n);
    truth_keep(&f);
    LEAVE();
}

static unsigned make(uint8_t *page, enum machine_shape shape, uint32_t size)
{
    unsigned length = machine_make(page, shape, size);
    machine_describe(page + TABLE, page, length, shape, size);
    return length;
}

/* Every shape, announced: twice each, since the second walk remembers the first. */
static NOINLINE void shapes(uint8_t *page)
{
    ENTER();
    static const char *const names[] = {"relative to SP", "relative to FP", "aligned"};
    for (unsigned shape = 0; shape < MACHINE_TRAP; shape++) {
        make(page, (enum machine_shape)shape, 4096);
        __register_frame(page + TABLE);
        name = names[shape];
        run(page, below, 1);
        run(page, below, 40);
        __deregister_frame(page + TABLE);
    }
    LEAVE();
}

/* The same return addresses, and each time a frame of another size. */
static NOINLINE void reuse(uint8_t *page)
{
    ENTER();
    for (unsigned i = 0; i < 40; i++) {
        make(page, i % 4 == 3 ? MACHINE_FP : MACHINE_SP, 16 + 256 * (i % 7));
        __register_frame(page + TABLE);
        name = "reused";
        run(page, below, 2);
        run(page, below, 2);
        __deregister_frame(page + TABLE);
        name = "cut, withdrawn";
        if (i % 5 == 0)
            run(page, below, 3);
    }
    LEAVE();
}

static NOINLINE void never_announced(uint8_t *page)
{
    ENTER();
    make(page, MACHINE_SP, 64);
    name = "cut, never announced";
    run(page, below, 4);
    LEAVE();
}

static uint8_t *second_page;

static void between(int n, uintptr_t caller)
{
    shadow.at[shadow.depth++] = caller;
    ENTER();
    run(second_page, below, n);
    LEAVE();
    LEAVE();
}

/* Both functions in one sequence, announced in every way there is. */
static NOINLINE void in_every_way(uint8_t *page)
{
    ENTER();
    static uintptr_t object[8];
    uint8_t *second = page + 512;
    unsigned first_length = machine_make(page, MACHINE_FP, 160);
    unsigned second_length = machine_make(second, MACHINE_SP, 320);
    struct machine m = {page + TABLE, 0};
    unsigned cie = machine_cie(&m);
    machine_fde(&m, cie, page, first_length, MACHINE_FP, 160);
    cie = machine_cie(&m);
    machine_fde(&m, cie, second, second_length, MACHINE_SP, 320);
    machine_u32(&m, 0);
    void *begin = page + TABLE, *list[] = {begin, NULL};
    second_page = second;
    for (unsigned way = 0; way < 6; way++) {
        name = "in every way";
        if (way == 0)
            __register_frame(begin);
        else if (way == 1)
            __register_frame_info(begin, object);
        else if (way == 2)
            __register_frame_info_bases(begin, object, NULL, NULL);
        else if (way == 3)
            __register_frame_table(list);
        else if (way == 4)
            __register_frame_info_table(list, object);
        else
            __register_frame_info_table_bases(list, object, NULL, NULL);
        run(page, between, 5);
        void *known = object;
        if (way == 0)
            __deregister_frame(begin);
        else if (way == 3)
            __deregister_frame(list);
        else if (way == 2)
            known = __deregister_frame_info_bases(begin);
        else
            known = __deregister_frame_info(way == 1 ? begin : (void *)list);
        if (known != object)
            _exit(96);
        name = "cut, withdrawn after every way";
        run(page, between, 6);
    }
    LEAVE();
}

/* A handler that interrupts machine code; below it the very instruction, then run(). */
static uintptr_t interrupted, ran;

static void handler(int signal_number)
{
    shadow.at[shadow.depth++] = ran;
    shadow.at[shadow.depth++] = interrupted;
    ENTER();
    innermost(signal_number);
    LEAVE();
    LEAVE();
    LEAVE();
}

/* The return address of machine code into its caller, which is the same in every call. */
static void note(int n, uintptr_t caller)
{
    (void)n;
    ran = caller;
}

static NOINLINE void in_handler(uint8_t *page)
{
    ENTER();
    make(page, MACHINE_SP, 64);
    run(page, note, 0);
    make(page, MACHINE_TRAP, 480);
    __register_frame(page + TABLE);
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGTRAP, &action, NULL);
    interrupted = (uintptr_t)memchr(page, 0xcc, 64) + 1;
    name = "in a handler";
    run(page, below, 7);
    __deregister_frame(page + TABLE);
    LEAVE();
}

static NOINLINE void in_a_child(uint8_t *page)
{
    ENTER();
    make(page, MACHINE_SP, 96);
    __register_frame(page + TABLE);
    name = "before the fork";
    run(page, below, 8);
    pid_t child = fork();
    if (child == 0) {
        name = "in the child";
        size = 7070; /* its addresses may be the parent's */
        run(page, below, 9);
        _exit(0);
    }
    int status = -1;
    if (waitpid(child, &status, 0) != child || status != 0)
        _exit(95);
    __deregister_frame(page + TABLE);
    LEAVE();
}

/* Threads that make, announce, use and withdraw code of their own, at the same time. The
 * blocks of a thread have a size by which they are known. */
static void *thread_block[THREADS];

static void in_thread(int n, uintptr_t caller)
{
    (void)caller;
    free(truth_keep(malloc(20000 + (size_t)n)));
}

static void *thread(void *argument)
{
    uint8_t *page = argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        make(page, MACHINE_SP, 16 + 64 * (i % 13));
        __register_frame(page + TABLE);
        machine_function *f;
        *(void **)&f = page;
        f(in_thread, page == thread_block[0] ? 0 : page == thread_block[1] ? 1 : 2);
        __deregister_frame(page + TABLE);
    }
    return NULL;
}

static void in_threads(void)
{
    pthread_t threads[THREADS];
    truth_add("{\"case\": \"threads\", \"rounds\": %d, \"first_size\": 20000, \"pages\": [", ROUNDS);
    for (unsigned i = 0; i < THREADS; i++) {
        thread_block[i] = machine_pages(1);
        truth_add("%s%lu", i == 0 ? "" : ", ", (unsigned long)(uintptr_t)thread_block[i]);
    }
    truth_add("]}\n");
    truth_tell(1);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread, thread_block[i]);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    uint8_t *page = machine_pages(1);
    ENTER_UNKNOWN();
    ENTER();
    if (page == NULL)
        return 97;
    shapes(page);
    reuse(page);
    never_announced(page);
    in_every_way(page);
    in_handler(page);
    in_a_child(page);
    in_threads();
    reuse(page);
    return 0;
}

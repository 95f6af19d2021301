/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stacks FOLDER: blocks made at the ends of known chains of calls; tells for
 * each the return addresses that its stack must have.
 *
 * build: -fomit-frame-pointer -rdynamic -Wl,-z,lazy -L{build}/tests/workloads -ldeep
 * build: -Wl,-rpath,{build}/tests/workloads
 */
#define SHADOW_OWNER
#include "shadow.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

void deep_call(void (*back)(int), int depth);

static const char *volatile name; /* raise() is declared not to come back into this file */

static NOINLINE void innermost(int padding)
{
    ENTER();
    char room[64 + (padding & 63)];
    room[0] = (char)padding;
    truth_keep(room);
    grab(name, 7069);
    truth_keep(room);
    LEAVE();
}

static NOINLINE void middle(int padding)
{
    ENTER();
    volatile int twice = padding * 2;
    innermost(twice);
    LEAVE();
}

static NOINLINE void outer(int padding)
{
    ENTER();
    middle(padding + 1);
    LEAVE();
}

static void called_back(int depth)
{
    ENTER();
    innermost(depth);
    LEAVE();
}

static NOINLINE void recurse(int depth)
{
    ENTER();
    if (depth > 0)
        recurse(depth - 1);
    else
        outer(depth);
    LEAVE();
}

static int compare(const void *a, const void *b)
{
    static int done;
    ENTER_UNKNOWN();
    ENTER();
    if (done++ == 0)
        outer(5);
    LEAVE();
    LEAVE();
    return *(const int *)a - *(const int *)b;
}

static NOINLINE void through_libc(void)
{
    ENTER();
    int numbers[3] = {3, 1, 2};
    qsort(numbers, 3, sizeof *numbers, compare);
    LEAVE();
}

/* The frame below the handler is the signal's, then the interrupted code. */
static void handler(int signal_number)
{
    ENTER_UNKNOWN();
    ENTER();
    outer(signal_number);
    LEAVE();
    LEAVE();
}

static NOINLINE void interrupted(int signal_number)
{
    ENTER();
    raise(signal_number);
    LEAVE();
}

static NOINLINE void in_handler(int flags)
{
    ENTER();
    static char room[65536];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    interrupted(SIGUSR1);
    LEAVE();
}

static sigjmp_buf back;

static void on_fault(int signal_number)
{
    ENTER_UNKNOWN();
    ENTER();
    outer(signal_number);
    siglongjmp(back, 1);
}

static NOINLINE void fault(void)
{
    ENTER();
    *(volatile int *)truth_keep(NULL) = 1;
    LEAVE();
}

static NOINLINE void in_fault(void)
{
    ENTER();
    unsigned depth = shadow.depth;
    struct sigaction action = {.sa_handler = on_fault};
    sigaction(SIGSEGV, &action, NULL);
    if (sigsetjmp(back, 1) == 0)
        fault();
    signal(SIGSEGV, SIG_DFL);
    shadow.depth = depth;
    LEAVE();
}

static void from_plugin(const char *which)
{
    ENTER();
    name = which;
    outer(3);
    LEAVE();
}

static NOINLINE void plugins(const char *folder)
{
    ENTER();
    for (int i = 0; i < 40; i++) {
        char path[4096];
        void (*call)(void (*)(const char *));
        snprintf(path, sizeof path, "%s/libplugin_%c.so", folder, i % 2 == 0 ? 'a' : 'b');
        void *plugin = dlopen(path, RTLD_NOW);
        if (plugin == NULL)
            _exit(97);
        *(void **)&call = dlsym(plugin, "plugin_call");
        call(from_plugin);
        call(from_plugin);
        dlclose(plugin);
    }
    LEAVE();
}

static void after_jit(int value)
{
    ENTER();
    innermost(value);
    LEAVE();
}

/* Machine code that the compiler knows nothing of; rbp holds no frame. */
static NOINLINE void just_in_time(void)
{
    static const unsigned char code[] = {
        0x55,                                     /* push %rbp */
        0x53,                                     /* push %rbx */
        0x48, 0x81, 0xec, 0x28, 0x01, 0x00, 0x00, /* sub $0x128, %rsp */
        0x48, 0xc7, 0xc5, 0x67, 0x45, 0x23, 0x01, /* mov $0x1234567, %rbp */
        0x48, 0x89, 0xf8,                         /* mov %rdi, %rax */
        0xbf, 0x07, 0x00, 0x00, 0x00,             /* mov $7, %edi */
        0xff, 0xd0,                               /* call *%rax */
        0x48, 0x81, 0xc4, 0x28, 0x01, 0x00, 0x00, /* add $0x128, %rsp */
        0x5b, 0x5d, 0xc3,                         /* pop %rbx; pop %rbp; ret */
    };
    ENTER();
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) {
        memcpy(page, code, sizeof code);
        void (*call)(void (*)(int)) = (void (*)(void (*)(int)))page;
        for (int i = 0; i < 3; i++)
            call(after_jit);
    }
    LEAVE();
}

static void *thread(void *argument)
{
    ENTER_UNKNOWN();
    ENTER();
    outer((int)(intptr_t)argument);
    LEAVE();
    LEAVE();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t other;
    (void)argc;
    ENTER_UNKNOWN();
    ENTER();
    name = "chain";
    outer(1);
    outer(40);
    name = "library";
    deep_call(called_back, 0);
    deep_call(called_back, 5);
    name = "libc";
    through_libc();
    name = "signal";
    in_handler(0);
    name = "alternate stack";
    in_handler(SA_ONSTACK);
    name = "fault";
    in_fault();
    plugins(argv[1]);
    name = "thread";
    pthread_create(&other, NULL, thread, (void *)1);
    pthread_join(other, NULL);
    name = "recursion";
    recurse(10000);
    name = "jit";
    just_in_time();
    name = "after all";
    outer(1);
    return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * newborn: calls functions that have nothing to do with the heap at the moment
 * when the first malloc of the program is still under way, and tells what they
 * answered. Who calls:
 *
 *     newborn handler    a signal handler that interrupts that malloc
 *     newborn thread     another thread (made by hand: pthread_create allocates)
 *
 * All begins in .preinit_array, before any library's constructor has run.
 */
#include "truth.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

extern char **environ;

enum { STACK = 1 << 18, BLOCK = 4 << 20, BLOCKS = 300 };

static int answers[9];
static int is_handler, thread_gone = 1;

static int status_of(pid_t pid)
{
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

static int forked(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        /* Far more than any pool for the first moments; not inside of somebody's malloc, though. */
        _exit(is_handler || truth_keep(malloc(BLOCK)) != NULL ? 5 : 6);
    }
    return status_of(pid);
}

static int execed(int which)
{
    char *const argv[] = {"sh", "-c", "exit 7", NULL};
    pid_t pid = vfork();
    if (pid == 0) {
        if (which == 0)
            execve("/bin/sh", argv, environ);
        else if (which == 1)
            execvp("sh", argv);
        else
            execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
        _exit(8);
    }
    return status_of(pid);
}

static int spawned(int searched)
{
    char *const argv[] = {"sh", "-c", "exit 9", NULL};
    pid_t pid = -1;
    int error = searched ? posix_spawnp(&pid, "sh", NULL, NULL, argv, environ)
                         : posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);
    return error != 0 ? -error : status_of(pid);
}

static int named(void)
{
    char name[16] = "";
    int error = pthread_setname_np(pthread_self(), "newborn-name");
    prctl(PR_GET_NAME, name, 0, 0, 0);
    return error != 0 ? -error : strcmp(name, "newborn-name") == 0;
}

static void call_all(void)
{
    int n = 0;
    answers[n++] = forked();
    for (int i = 0; i < 3; i++)
        answers[n++] = execed(i);
    answers[n++] = spawned(0);
    answers[n++] = spawned(1);
    answers[n++] = named();
    answers[n++] = sbrk(0) == (void *)syscall(SYS_brk, 0);
    answers[n++] = dlclose(dlopen(NULL, RTLD_NOW));
}

static void on_alarm(int signal)
{
    int saved = errno;
    (void)signal;
    is_handler = 1;
    call_all();
    errno = saved;
}

static int thread_run(void *nothing)
{
    (void)nothing;
    usleep(150000); /* the malloc of the main thread is under way */
    call_all();
    for (int i = 0; i < BLOCKS; i++) {
        if (truth_keep(malloc(7069)) == NULL)
            answers[0] = -ENOMEM;
    }
    return 0;
}

/* A thread with a thread pointer of its own, all zero but for what code relies on. */
static void start_thread(void)
{
    static _Alignas(4096) uintptr_t area[2 * STACK / sizeof(uintptr_t)]; /* mmap would be the first call */
    uintptr_t *self = area + STACK * 3 / 2 / sizeof *area;
    self[0] = self[2] = (uintptr_t)self;
    self[88] = self[89] = (uintptr_t)&self[88];  /* glibc's list of threads: fork takes us out of it */
    __asm__("movq %%fs:40, %0" : "=r"(self[5])); /* stack protector */
    __asm__("movq %%fs:48, %0" : "=r"(self[6])); /* mangled pointers */
    clone(thread_run, (char *)area + STACK,
          CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
              CLONE_CHILD_CLEARTID,
          NULL, NULL, self, &thread_gone);
}

static void before_all(int argc, char **argv, char **environment)
{
    (void)environment;
    if (argc > 1 && strcmp(argv[1], "thread") == 0) {
        start_thread();
    } else {
        struct itimerval soon = {.it_value.tv_usec = 150000};
        signal(SIGALRM, on_alarm);
        setitimer(ITIMER_REAL, &soon, NULL);
    }
    truth_keep(malloc(10007));
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **,
                                                                              char **) = before_all;

int main(int argc, char **argv)
{
    int is_thread = argc > 1 && strcmp(argv[1], "thread") == 0;
    while (is_thread && __atomic_load_n(&thread_gone, __ATOMIC_ACQUIRE) != 0)
        syscall(SYS_futex, &thread_gone, FUTEX_WAIT, 1, NULL, NULL, 0);
    usleep(is_thread ? 0 : 400000); /* the handler, where nothing held us up */
    truth_add("{\"pid\": %d, \"answers\": [", (int)getpid());
    for (unsigned i = 0; i < sizeof answers / sizeof *answers; i++)
        truth_add("%s%d", i == 0 ? "" : ", ", answers[i]);
    truth_add("]}\n");
    truth_tell(1);
    return 0;
}

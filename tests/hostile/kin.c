/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * kin CASE: processes made in every way that there is.  Parent and children
 * each tell their own truth.
 */
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

static void expect_end(pid_t pid, int code, int flags)
{
    int status = -1;
    while (waitpid(pid, &status, flags) < 0 && errno == EINTR)
        continue;
    expect(WIFEXITED(status) && WEXITSTATUS(status) == code, "a child ended in another way");
}

static void leaf(void)
{
    work(9103, 20);
}

static void leave(int code)
{
    tell();
    _exit(code);
}

static void *thread_work(void *argument)
{
    work((size_t)(uintptr_t)argument, 20);
    return NULL;
}

/* A child of a child of a child: each with its own account. */
static void generation(int depth)
{
    work(9109, 10 + depth);
    pid_t pid = depth < 12 ? fork() : -1;
    if (pid == 0) {
        become_child();
        generation(depth + 1);
        leave(4);
    }
    if (pid > 0)
        expect_end(pid, 4, 0);
}

static void generations(void)
{
    generation(0);
}

/* fork from another thread than main, while others allocate. */
static int stop;

static void *churn(void *argument)
{
    for (int i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
        free(truth_keep(malloc(64 + (size_t)(uintptr_t)argument)));
        if (i % 100 == 0)
            usleep(100);
    }
    return NULL;
}

static void *forking(void *argument)
{
    for (int i = 0; i < 5; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            pthread_t thread;
            become_child();
            work(9127, 10);
            expect(pthread_create(&thread, NULL, thread_work, (void *)9127) == 0, "no thread in the child");
            pthread_join(thread, NULL);
            leave(5);
        }
        expect_end(pid, 5, 0);
        work(9127, 2);
    }
    return argument;
}

static void fork_from_thread(void)
{
    pthread_t other[3], thread;
    for (uintptr_t i = 0; i < 3; i++)
        pthread_create(&other[i], NULL, churn, (void *)i);
    pthread_create(&thread, NULL, forking, NULL);
    pthread_join(thread, NULL);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        pthread_join(other[i], NULL);
}

/* Fork handlers of the program allocate on both sides. */
static void on_fork(void)
{
    drop(make(9133), 9133);
}

static void fork_handlers(void)
{
    pthread_atfork(on_fork, on_fork, on_fork);
    for (int i = 0; i < 10; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            become_child();
            count_made(9133); /* by the handler, before this line */
            count_freed(9133);
            work(9137, 3);
            leave(6);
        }
        expect_end(pid, 6, 0);
    }
}

static void fork_in_handler_now(int number)
{
    (void)number;
    pid_t pid = fork();
    if (pid == 0) {
        become_child();
        work(9151, 6);
        leave(7);
    }
    expect_end(pid, 7, 0);
}

static void fork_in_handler(void)
{
    signal(SIGUSR1, fork_in_handler_now);
    for (int i = 0; i < 5; i++) {
        work(9151, 3);
        raise(SIGUSR1);
    }
}

/* clone3 as libc does not call it: a plain child, then one that shares memory. */
static void raw_clone3(void)
{
    for (int i = 0; i < 5; i++) {
        struct clone_args arguments = {.exit_signal = SIGCHLD};
        long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
        if (pid == 0) {
            become_child();
            work(9157, 8);
            leave(8);
        }
        expect_end((pid_t)pid, 8, 0);
        work(9157, 4);
    }
}

static int shared_child(void *argument)
{
    for (int i = 0; i < 20; i++) /* the memory is the parent's, and so are the blocks */
        drop(make(9161), 9161);
    return *(int *)argument;
}

static void clone_with(int flags, size_t stack_size)
{
    int code = 9;
    for (int i = 0; i < 5; i++) {
        char *stack = mmap(NULL, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        pid_t pid = clone(shared_child, stack + stack_size, flags, &code);
        expect(pid > 0, "clone failed");
        expect_end(pid, 9, __WALL);
        munmap(stack, stack_size);
    }
}

static void clone_vm(void)
{
    clone_with(CLONE_VM | SIGCHLD, 1 << 16);
}

static void clone_vm_vfork(void)
{
    clone_with(CLONE_VM | CLONE_VFORK | SIGCHLD, 1 << 16);
}

static void clone_files_no_signal(void)
{
    clone_with(CLONE_VM | CLONE_FILES | CLONE_FS, 1 << 16);
}

/* posix_spawn with an environment of its own, in which LD_PRELOAD is empty or gone. */
static void spawn_own_environment(void)
{
    char *arguments[] = {hostile_argv[0], "leaf", NULL};
    char *none[] = {"A=1", NULL}, *blank[] = {"LD_PRELOAD=", "HOME=/", NULL},
         *doubled[] = {"B=2", "B=3", NULL};
    char **environments[] = {none, blank, doubled, environ};
    for (int i = 0; i < 4; i++) {
        pid_t pid;
        work(9173, 2);
        expect(posix_spawn(&pid, hostile_argv[0], NULL, NULL, arguments, environments[i]) == 0, "no spawn");
        expect_end(pid, 0, 0);
    }
}

/* As a shell runs it: the kernel starts the interpreter. */
static void script(void)
{
    char name[64], text[4200];
    snprintf(name, sizeof name, "./script-%d", (int)getpid());
    int length = snprintf(text, sizeof text, "#!/bin/sh\nexec '%s' leaf\n", hostile_argv[0]);
    int fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0755);
    expect(write(fd, text, (size_t)length) == length, "no script");
    close(fd);
    pid_t pid = fork();
    if (pid == 0) {
        execl(name, name, (char *)NULL);
        _exit(92);
    }
    expect_end(pid, 0, 0);
    unlink(name);
    work(9181, 5);
}

static void fexec(void)
{
    char *arguments[] = {hostile_argv[0], "leaf", NULL};
    int fd = open(hostile_argv[0], O_RDONLY | O_CLOEXEC);
    work(9187, 5);
    tell();
    fexecve(fd, arguments, environ);
}

/* An exec that fails leaves all as it was. */
static void exec_fails(void)
{
    char *none[] = {NULL};
    for (int i = 0; i < 20; i++) {
        work(9199, 3);
        expect(execve("/nowhere/at/all", hostile_argv, none) == -1 && errno == ENOENT, "exec of nothing");
        expect(execve("/", hostile_argv, environ) == -1 && errno == EACCES, "exec of a folder");
    }
}

/* Exec from a thread that is not main: main vanishes. */
static void *exec_now(void *argument)
{
    work(9203, 6);
    tell();
    execl(hostile_argv[0], hostile_argv[0], "leaf", (char *)NULL);
    return argument;
}

static void exec_from_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, exec_now, NULL);
    for (;;)
        pause();
}

/* vfork in a thread while another allocates; the child execs, or leaves. */
static void *vforking(void *argument)
{
    for (int i = 0; i < 10; i++) {
        pid_t pid = vfork();
        if (pid == 0) {
            if (i % 2 != 0)
                _exit(11);
            execl("/bin/true", "true", (char *)NULL);
            _exit(12);
        }
        expect_end(pid, i % 2 != 0 ? 11 : 0, 0);
        work(9209, 4);
    }
    return argument;
}

static void vfork_threads(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, vforking, NULL);
    pthread_create(&two, NULL, vforking, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}

/* A build or a script: short processes, many at once, each the child of another one's child. */
enum { SWARM = 12, SWARM_EACH = 4 };

static void swarm_member(int number)
{
    become_child();
    work(13177, 3);
    for (int i = 0; i < SWARM_EACH; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            if (i == 0) /* as a compiler is started */
                execl(hostile_argv[0], hostile_argv[0], "leaf", (char *)NULL);
            become_child();
            if (i != 1) /* number 1 has nothing to tell but that it was there */
                work(13183, 2 + i);
            leave(0);
        }
        expect_end(pid, 0, 0);
    }
    leave(number);
}

static void swarm(void)
{
    pid_t pids[SWARM];
    for (int i = 0; i < SWARM; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            swarm_member(i);
    }
    for (int i = 0; i < SWARM; i++)
        expect_end(pids[i], i, 0);
    work(13177, 3);
}

/* A process number that is given out again, while the recording goes on: to a child that is forked, then
 * to one that becomes another program. */
static void reborn_life(int life)
{
    become_child();
    work(13291 + (size_t)life, 6);
    if (life == 2) {
        tell();
        execl(hostile_argv[0], hostile_argv[0], "leaf", (char *)NULL);
    }
    leave(0);
}

static void same_number(void)
{
    pid_t first = fork();
    if (first == 0)
        reborn_life(0);
    expect_end(first, 0, 0);
    for (int life = 1; life < 4; life++) {
        struct clone_args arguments = {
            .exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&first, .set_tid_size = 1};
        long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
        if (pid == 0)
            reborn_life(life);
        expect(pid == first, "the number was not given again");
        expect_end((pid_t)pid, 0, 0);
    }
}

HOSTILE_CASES({"leaf", leaf}, {"generations", generations}, {"fork_from_thread", fork_from_thread},
              {"fork_handlers", fork_handlers}, {"fork_in_handler", fork_in_handler},
              {"raw_clone3", raw_clone3}, {"clone_vm", clone_vm}, {"clone_vm_vfork", clone_vm_vfork},
              {"clone_files_no_signal", clone_files_no_signal},
              {"spawn_own_environment", spawn_own_environment}, {"script", script}, {"fexec", fexec},
              {"exec_fails", exec_fails}, {"exec_from_thread", exec_from_thread},
              {"vfork_threads", vfork_threads}, {"swarm", swarm}, {"same_number", same_number})

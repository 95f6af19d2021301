/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * orphan CASE: programs that lose their recorder.  They kill it themselves, if there is
 * one among their ancestors, and go on; alone they have nobody to kill and go on just
 * the same.  What they tell first has been recorded by then.
 */
#include "hostile.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

/* "12 (name) S parent ..." */
static pid_t look_at(pid_t pid, char name[16])
{
    char path[64], text[512] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (read(fd, text, sizeof text - 1) <= 0 || sscanf(text, "%*d (%15[^)]) %*c %d", name, &parent) != 2)
        parent = 0;
    close(fd);
    return parent;
}

static pid_t find_recorder(void)
{
    char name[16] = "";
    pid_t pid = getpid(), parent;
    while ((parent = look_at(pid, name)) > 1 && strcmp(name, "heapwake") != 0)
        pid = parent;
    return strcmp(name, "heapwake") == 0 ? pid : 0;
}

/* What has been made so far is in the file, and has been told; the recorder is gone. */
static void lose_recorder(void)
{
    int (*flush)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "heapwake_flush");
    pid_t recorder = find_recorder();
    expect((flush == NULL) == (recorder == 0), "a recorder without a probe, or a probe without a recorder");
    if (recorder != 0) {
        struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, recorder, 0), .events = POLLIN};
        expect(flush() == 0, "the recorder does not answer");
        expect(kill(recorder, SIGKILL) == 0 && poll(&end, 1, 20000) == 1, "the recorder does not die");
        close(end.fd);
    }
    tell();
    become_child(); /* a new account */
}

static void expect_end(pid_t pid, int code)
{
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    expect(WIFEXITED(status) && WEXITSTATUS(status) == code, "a child ended in another way");
}

static void leaf(void)
{
    work(13163, 20);
}

static void *thread_work(void *argument)
{
    work(13163, 20);
    return argument;
}

static void child_life(void)
{
    pthread_t thread;
    become_child();
    work(13163, 20);
    expect(pthread_create(&thread, NULL, thread_work, NULL) == 0, "no thread in the child");
    pthread_join(thread, NULL);
}

/* Every way to a further process. */
static void forks_on(void)
{
    char *arguments[] = {hostile_argv[0], "leaf", NULL};
    pid_t pid;
    work(13151, 20);
    lose_recorder();
    if ((pid = fork()) == 0) {
        child_life();
        pid_t grandchild = fork();
        if (grandchild == 0) {
            child_life();
            tell();
            _exit(13);
        }
        expect_end(grandchild, 13);
        tell();
        _exit(12);
    }
    expect_end(pid, 12);
    if ((pid = vfork()) == 0) {
        execv(hostile_argv[0], arguments);
        _exit(92);
    }
    expect_end(pid, 0);
    expect(posix_spawn(&pid, hostile_argv[0], NULL, NULL, arguments, environ) == 0, "no spawn");
    expect_end(pid, 0);
    work(13159, 10);
}

/* More than the buffers take (1 MiB, by its environment), by threads that are old and new, where SIGPIPE would kill. */
static int gone;

static void *write_on(void *argument)
{
    while (argument == NULL && !__atomic_load_n(&gone, __ATOMIC_ACQUIRE))
        usleep(100);
    for (int i = 0; i < 40000; i++)
        drop(make(13171), 13171);
    return argument;
}

static void writes_on(void)
{
    pthread_t old, new;
    signal(SIGPIPE, SIG_DFL);
    work(13151, 20);
    pthread_create(&old, NULL, write_on, NULL);
    lose_recorder();
    __atomic_store_n(&gone, 1, __ATOMIC_RELEASE);
    pthread_create(&new, NULL, write_on, &new);
    write_on(&old);
    pthread_join(old, NULL);
    pthread_join(new, NULL);
}

HOSTILE_CASES({"leaf", leaf}, {"forks_on", forks_on}, {"writes_on", writes_on})

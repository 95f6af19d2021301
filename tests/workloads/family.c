/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * family MODE [COUNT]: every way to make another process or another image.  Each
 * process tells on a line of its own what it made and released itself.
 */
#include "truth.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

static const char *self;
static int count;
static atomic_int made, freed, stop;

static void work(int blocks)
{
    for (int i = 0; i < blocks; i++) {
        void *block = truth_keep(malloc(7069));
        made++;
        if (i % 2 == 0) {
            free(block);
            freed++;
        }
    }
}

static void tell(void)
{
    truth_add("{\"pid\": %d, \"size\": 7069, \"made\": %d, \"freed\": %d}\n", getpid(), made, freed);
    truth_tell(1);
}

static void become_child(void)
{
    made = freed = 0;
}

static void await(pid_t pid)
{
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        _exit(94);
}

static void fork_mode(void)
{
    void *inherited = truth_keep(malloc(10007));
    work(100);
    for (int i = 0; i < 5; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            become_child();
            free(inherited);
            work(50 + i);
            tell();
            exit(0);
        }
        work(10);
        await(pid);
    }
    free(inherited);
}

static void raw_mode(void)
{
    work(100);
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) {
        become_child();
        work(77);
        tell();
        _exit(0);
    }
    work(10);
    await(pid);
}

/* Always in the allocator when the fork comes, and holds nothing. */
static void *busy(void *argument)
{
    while (!stop) {
        for (int i = 0; i < 100; i++) {
            free(truth_keep(malloc(7069)));
            made++;
            freed++;
        }
        usleep(100);
    }
    return argument;
}

static void *child_thread(void *argument)
{
    work(7);
    return argument;
}

static void forkthreads_mode(void)
{
    pthread_t thread[4], other;
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, busy, NULL);
    for (int i = 0; i < count; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            alarm(60); /* a hang becomes a failure */
            become_child();
            work(5);
            if (pthread_create(&other, NULL, child_thread, NULL) != 0)
                _exit(93);
            pthread_join(other, NULL);
            tell();
            _exit(0);
        }
        await(pid);
    }
    stop = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

static void vfork_mode(void)
{
    work(100);
    for (int i = 0; i < 20; i++) {
        pid_t pid = vfork();
        if (pid == 0) {
            if (i % 2 == 0) {
                work(3); /* in the memory of the parent: these are the parent's */
                _exit(0);
            }
            execl(self, self, "leaf", (char *)NULL);
            _exit(92);
        }
        work(10);
        await(pid);
    }
}

static void spawn_mode(void)
{
    char *arguments[] = {(char *)self, "leaf", NULL};
    work(100);
    for (int i = 0; i < 5; i++) {
        pid_t pid;
        if (posix_spawn(&pid, self, NULL, NULL, arguments, environ) != 0)
            _exit(92);
        await(pid);
        work(10);
    }
}

static void shell_mode(void)
{
    char command[4096];
    snprintf(command, sizeof command, "'%s' leaf", self);
    work(100);
    if (system(command) != 0)
        _exit(92);
    FILE *pipe = popen(command, "r");
    while (fgets(command, sizeof command, pipe) != NULL)
        truth_add("%s", command);
    if (pclose(pipe) != 0)
        _exit(92);
    work(10);
}

static void chain_mode(void)
{
    char left[16];
    work(100 + count);
    if (count == 0)
        return;
    tell();
    snprintf(left, sizeof left, "%d", count - 1);
    execl(self, self, "chain", left, (char *)NULL);
    _exit(92);
}

static void bareenv_mode(void)
{
    char *empty[] = {NULL};
    work(100);
    pid_t pid = fork();
    if (pid == 0) {
        execle(self, self, "leaf", (char *)NULL, empty);
        _exit(92);
    }
    await(pid);
}

static void daemon_mode(void)
{
    int tube[2];
    char end;
    if (pipe(tube) != 0)
        _exit(92);
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        if (fork() != 0)
            _exit(0);
        become_child();
        close(tube[1]);
        if (read(tube[0], &end, 1) != 0) /* until the first process has gone */
            _exit(92);
        usleep(200000);
        work(500);
        tell();
        exit(0);
    }
    await(pid);
    work(100);
}

static void leaf_mode(void)
{
    work(61);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"fork", fork_mode},   {"raw", raw_mode},         {"forkthreads", forkthreads_mode},
                 {"vfork", vfork_mode}, {"spawn", spawn_mode},     {"shell", shell_mode},
                 {"chain", chain_mode}, {"bareenv", bareenv_mode}, {"daemon", daemon_mode},
                 {"leaf", leaf_mode}};
    self = argv[0];
    count = argc > 2 ? atoi(argv[2]) : 0;
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (argc > 1 && strcmp(argv[1], modes[i].name) == 0) {
            modes[i].run();
            tell();
            return 0;
        }
    }
    return 95;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * world [CHILD]: prints all that a process can see of itself and its surroundings
 * and that a profiler could change: descriptors, threads, children, signal
 * dispositions and mask, alternate stack, limits, umask, environment, nice
 * value, working folder, errno after calls, session and group.  With CHILD it
 * looks at all of that in a forked child and in an executed one as well.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void show_folder(const char *what, const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;
    for (struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        count++;
        if (strcmp(what, "descriptor") == 0) {
            int fd = atoi(e->d_name);
            if (fd != dirfd(folder))
                printf("%s %d flags %x %x\n", what, fd, fcntl(fd, F_GETFD), fcntl(fd, F_GETFL));
        }
    }
    printf("%ss %d\n", what, count);
    if (folder != NULL)
        closedir(folder);
}

static void show_signals(void)
{
    sigset_t mask;
    stack_t stack;
    for (int i = 1; i < NSIG; i++) {
        struct sigaction action;
        if (sigaction(i, NULL, &action) == 0)
            printf("signal %d %s %x\n", i,
                   action.sa_handler == SIG_DFL   ? "default"
                   : action.sa_handler == SIG_IGN ? "ignored"
                                                  : "handled",
                   action.sa_flags);
    }
    sigprocmask(SIG_BLOCK, NULL, &mask);
    printf("mask");
    for (int i = 1; i < NSIG; i++) {
        if (sigismember(&mask, i) == 1)
            printf(" %d", i);
    }
    sigpending(&mask);
    printf("\npending");
    for (int i = 1; i < NSIG; i++) {
        if (sigismember(&mask, i) == 1)
            printf(" %d", i);
    }
    sigaltstack(NULL, &stack);
    printf("\naltstack %p %zu %x\n", stack.ss_sp, stack.ss_size, stack.ss_flags);
}

static void show_limits(void)
{
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        struct rlimit limit;
        getrlimit(i, &limit);
        printf("limit %d %llx %llx\n", i, (unsigned long long)limit.rlim_cur,
               (unsigned long long)limit.rlim_max);
    }
    mode_t mask = umask(0);
    umask(mask);
    printf("umask %o nice %d dumpable %d nnp %d persona %x parent-death %d\n", mask,
           getpriority(PRIO_PROCESS, 0), prctl(PR_GET_DUMPABLE), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
           personality(0xffffffff), 0);
    int subreaper = 0;
    prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
    printf("subreaper %d leads-session %d leads-group %d\n", subreaper, getsid(0) == getpid(),
           getpgrp() == getpid());
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void show_environment(void)
{
    size_t count = 0;
    while (environ[count] != NULL)
        count++;
    char **sorted = malloc((count + 1) * sizeof *sorted);
    memcpy(sorted, environ, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(sorted[i], "LD_PRELOAD=", 11) != 0 && strncmp(sorted[i], "HEAPWAKE_", 9) != 0)
            printf("environment %s\n", sorted[i]);
    }
    free(sorted);
}

static void show_children(void)
{
    int status;
    pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);
    printf("wait %d %s\n", pid, pid < 0 ? strerror(errno) : "");
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    FILE *file = fopen("/proc/thread-self/children", "r");
    int c = file == NULL ? -2 : fgetc(file);
    printf("children %d\n", c);
    if (file != NULL)
        fclose(file);
}

static void show_errno(void)
{
    errno = 123;
    void *block = malloc(7069);
    block = realloc(block, 17093);
    free(block);
    void *other = calloc(1, 10007);
    free(other);
    printf("errno %d\n", errno);
}

static void on_exit_say(int status, void *argument)
{
    (void)argument;
    printf("exit handler %d\n", status);
}

static void show(const char *who)
{
    printf("== %s\n", who);
    show_folder("descriptor", "/proc/self/fd");
    show_folder("thread", "/proc/self/task");
    show_children();
    show_signals();
    show_limits();
    show_environment();
    show_errno();
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int status = 0;
    on_exit(on_exit_say, NULL);
    show(argc > 1 ? argv[1] : "alone");
    if (argc > 1 && strcmp(argv[1], "parent") == 0) {
        setenv("WORLD_SET", "by the parent", 1);
        pid_t pid = fork();
        if (pid == 0) {
            show("forked");
            exit(7);
        }
        waitpid(pid, &status, 0);
        printf("child ended %x\n", status);
        fflush(stdout);
        pid = fork();
        if (pid == 0) {
            execl(argv[0], argv[0], "executed", (char *)NULL);
            _exit(9);
        }
        waitpid(pid, &status, 0);
        printf("child ended %x\n", status);
        show("afterwards");
    }
    fprintf(stderr, "done\n");
    return 5;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hook_process: fork, exec and spawn, so that children are followed.
 *
 * fork: the child begins its own segment at once, so that it is part of the
 * tree even if it never allocates. (A child made without this hook is noticed
 * at its first event; vfork's child lives in our memory and needs nothing.)
 * The parent tells of it, and of what posix_spawn or a child of vfork have started:
 * the parent may be gone before they say hello, and nobody would be left who listens.
 *
 * exec: the new image finds the collector by two variables. Where the program
 * passes an environment without them, they are added (env.c); otherwise it is
 * passed on as it is. Nothing is written to the program's own environment.
 */
#include "probe/create.h"
#include "probe/env.h"
#include "probe/event.h"
#include "probe/hook.h"
#include "probe/life.h"
#include "probe/note.h"
#include "probe/real.h"
#include "probe/share.h"
#include "probe/sys.h"
#include "probe/target.h"

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static pid_t process_fork(const void *frame)
{
    const struct real *call = life_real();
    if (call == NULL)
        return -1;
    tls_caged = 0; /* who forks is no child of a vfork */
    pid_t pid = call->fork();
    if (pid == 0) {
        life_forked();
        note_forked(frame);
    } else if (pid > 0 && life_is_caged()) {
        share_count_unfollowed(1);
    } else if (pid > 0) {
        event_fork((uint32_t)pid, FORK_CHILD, frame);
    }
    return pid;
}

HOOK pid_t fork(void)
{
    return process_fork(HOOK_FRAME);
}

/* The result of a system call, as libc would give it. */
static int process_result(long result)
{
    if (!sys_failed(result))
        return (int)result;
    errno = (int)-result;
    return -1;
}

/* 0, 1 and 2 become /dev/null, if that is what it is called. */
static int process_close_standard(void)
{
    enum { NULL_MAJOR = 1, NULL_MINOR = 3 };
    struct stat about = {0};
    int fd = process_result(sys_open("/dev/null", O_RDWR, 0));
    if (fd < 0)
        return -1;
    int result = process_result(SYS_CALL(SYS_fstat, fd, &about, 0, 0, 0, 0));
    bool is_it = S_ISCHR(about.st_mode) && about.st_rdev == makedev(NULL_MAJOR, NULL_MINOR);
    if (result == 0 && !is_it) {
        errno = ENODEV;
        result = -1;
    }
    for (int i = 0; i <= STDERR_FILENO && result == 0; i++) {
        if (i != fd)
            SYS_CALL(SYS_dup3, fd, i, 0, 0, 0, 0);
    }
    if (result != 0 || fd > STDERR_FILENO)
        sys_close(fd);
    return result;
}

/* libc's has a fork that we cannot see, and nobody would tell of the child, whose parent is gone at once. */
HOOK int daemon(int nochdir, int noclose)
{
    pid_t pid = process_fork(HOOK_FRAME);
    if (pid > 0)
        _exit(0);
    if (pid != 0 || process_result(SYS_CALL(SYS_setsid, 0, 0, 0, 0, 0, 0)) < 0)
        return -1;
    if (nochdir == 0)
        SYS_CALL(SYS_chdir, "/", 0, 0, 0, 0, 0);
    return noclose == 0 ? process_close_standard() : 0;
}

/* Made for handlers, which may come in the middle of our own code: the child leaves its parent's segment before that goes on. */
HOOK pid_t _Fork(void)
{
    const struct real *call = life_real();
    if (call == NULL || call->_Fork == NULL) {
        errno = ENOSYS;
        return -1;
    }
    tls_caged = 0;
    pid_t pid = call->_Fork();
    if (pid == 0)
        life_forked();
    else if (pid > 0 && life_is_caged())
        share_count_unfollowed(1);
    return pid;
}

/* The environment to pass on: the caller's, or a copy. */
#define PROCESS_ENVIRONMENT(name, given, path)                         \
    struct env_plan plan = env_plan(given, path);                      \
    void *room = plan.room > ENV_STACK_MAX ? NULL : alloca(plan.room); \
    char *const *name = env_copy(&plan, room)

/* A child that vfork or posix_spawn has made is on its way into another program; is_back: its exec has failed. */
static void process_tell(const struct env_plan *plan, pid_t child, bool is_back, const void *frame)
{
    if (plan->becomes == FORK_CHILD)
        return;
    if (plan->is_apart)
        share_count_unreached(is_back ? -1 : 1);
    else
        event_fork((uint32_t)child, is_back ? FORK_BACK : plan->becomes, frame);
}

/* On its way: if this is the child of a vfork, its parent goes on, which is not shut in. */
static void process_exec_begin(const struct env_plan *plan, const void *frame)
{
    share_exec_begin();
    if (life_is_caged())
        share_count_unfollowed(1);
    spool_seal();
    if (share_is_lent())
        process_tell(plan, (pid_t)sys_getpid(), false, frame);
    tls_caged = 0;
}

/* exec has come back. */
static int process_exec_failed(const struct env_plan *plan, int result, const void *frame)
{
    tls_caged = plan->was_caged;
    spool_unseal();
    share_exec_failed();
    if (life_is_caged())
        share_count_unfollowed(-1);
    if (share_is_lent())
        process_tell(plan, (pid_t)sys_getpid(), true, frame);
    env_done(plan);
    return result;
}

HOOK int execve(const char *path, char *const argv[], char *const envp[])
{
    const struct real *call = life_real();
    if (call == NULL)
        return -1;
    PROCESS_ENVIRONMENT(env, envp, path);
    process_exec_begin(&plan, HOOK_FRAME);
    return process_exec_failed(&plan, call->execve(path, argv, env), HOOK_FRAME);
}

HOOK int execv(const char *path, char *const argv[])
{
    const struct real *call = life_real();
    if (call == NULL)
        return -1;
    PROCESS_ENVIRONMENT(env, environ, path);
    process_exec_begin(&plan, HOOK_FRAME);
    return process_exec_failed(&plan, call->execve(path, argv, env), HOOK_FRAME);
}

HOOK int execvpe(const char *file, char *const argv[], char *const envp[])
{
    const struct real *call = life_real();
    if (call == NULL)
        return -1;
    PROCESS_ENVIRONMENT(env, envp, target_find(file, (char[TARGET_PATH_MAX]){0}));
    process_exec_begin(&plan, HOOK_FRAME);
    return process_exec_failed(&plan, call->execvpe(file, argv, env), HOOK_FRAME);
}

HOOK int execvp(const char *file, char *const argv[])
{
    const struct real *call = life_real();
    if (call == NULL)
        return -1;
    PROCESS_ENVIRONMENT(env, environ, target_find(file, (char[TARGET_PATH_MAX]){0}));
    process_exec_begin(&plan, HOOK_FRAME);
    return process_exec_failed(&plan, call->execvpe(file, argv, env), HOOK_FRAME);
}

HOOK int fexecve(int fd, char *const argv[], char *const envp[])
{
    const struct real *call = life_real();
    if (call == NULL)
        return -1;
    PROCESS_ENVIRONMENT(env, envp, target_of_descriptor(fd, (char[TARGET_PATH_MAX]){0}));
    process_exec_begin(&plan, HOOK_FRAME);
    return process_exec_failed(&plan, call->fexecve(fd, argv, env), HOOK_FRAME);
}

HOOK int execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
    const struct real *call = life_real();
    if (call == NULL || call->execveat == NULL) {
        errno = ENOSYS;
        return -1;
    }
    /* A path that begins in a folder is left to the loader. The path itself may be anything. */
    char found[TARGET_PATH_MAX];
    const char *target = (flags & AT_EMPTY_PATH) != 0 ? target_of_descriptor(folder, found)
                         : folder == AT_FDCWD         ? path
                                                      : NULL;
    PROCESS_ENVIRONMENT(env, envp, target);
    process_exec_begin(&plan, HOOK_FRAME);
    return process_exec_failed(&plan, call->execveat(folder, path, argv, env, flags), HOOK_FRAME);
}

/* posix_spawn has come back.  pid: where the caller wants the child's, NULL = nowhere. */
static void process_spawned(const struct env_plan *plan, int result, pid_t child, pid_t *pid,
                            const void *frame)
{
    if (result == 0 && pid != NULL)
        *pid = child;
    if (result == 0 && life_is_caged())
        share_count_unfollowed(1);
    else if (result == 0)
        process_tell(plan, child, false, frame);
    env_done(plan);
}

HOOK int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                     const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    const struct real *call = life_real();
    if (call == NULL)
        return ENOSYS;
    tls_caged = 0;
    PROCESS_ENVIRONMENT(env, envp, path);
    pid_t child = 0;
    int result = call->posix_spawn(&child, path, actions, attributes, argv, env);
    process_spawned(&plan, result, child, pid, HOOK_FRAME);
    return result;
}

HOOK int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                      const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    const struct real *call = life_real();
    if (call == NULL)
        return ENOSYS;
    tls_caged = 0;
    PROCESS_ENVIRONMENT(env, envp, target_find(file, (char[TARGET_PATH_MAX]){0}));
    pid_t child = 0;
    int result = call->posix_spawnp(&child, file, actions, attributes, argv, env);
    process_spawned(&plan, result, child, pid, HOOK_FRAME);
    return result;
}

/* libc's headers promise that it is not NULL; programs pass NULL all the same. */
static __attribute__((noinline)) bool process_is_null(const void *first)
{
    __asm__("" : "+r"(first));
    return first == NULL;
}

/* execl and its sisters: the arguments, gathered from the call into an array. */
static unsigned process_count(va_list list)
{
    unsigned n = 1;
    while (va_arg(list, char *) != NULL)
        n++;
    return n;
}

static void process_gather(char **argv, const char *first, unsigned count, va_list list)
{
    argv[0] = (char *)(uintptr_t)first;
    for (unsigned i = 1; i <= count; i++)
        argv[i] = va_arg(list, char *);
}

#define PROCESS_ARGUMENTS(argv, first)                                 \
    va_list list;                                                      \
    va_start(list, first);                                             \
    unsigned count = process_is_null(first) ? 0 : process_count(list); \
    va_end(list);                                                      \
    char **argv = alloca((count + 1) * sizeof *argv);                  \
    va_start(list, first);                                             \
    process_gather(argv, first, count, list)

HOOK int execl(const char *path, const char *first, ...)
{
    PROCESS_ARGUMENTS(argv, first);
    va_end(list);
    return execv(path, argv);
}

HOOK int execlp(const char *file, const char *first, ...)
{
    PROCESS_ARGUMENTS(argv, first);
    va_end(list);
    return execvp(file, argv);
}

HOOK int execle(const char *path, const char *first, ...)
{
    PROCESS_ARGUMENTS(argv, first);
    char *const *envp = va_arg(list, char *const *);
    va_end(list);
    return execve(path, argv, envp);
}

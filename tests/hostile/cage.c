/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cage CASE: programs that shut themselves in: descriptors closed, rights
 * dropped, limits set, filters installed, other roots and namespaces.
 */
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

static NOINLINE void deeper(int depth, size_t size)
{
    volatile int here = depth;
    if (depth == 0)
        work(size, 4);
    else
        deeper(depth - 1, size);
    here = here + 1;
}

static void *in_thread(void *argument)
{
    deeper(30, (size_t)(uintptr_t)argument);
    return NULL;
}

/* New stacks, a new thread, a child: all that might need something that is gone. */
static void all_kinds(size_t size)
{
    pthread_t thread;
    int status;
    for (int i = 0; i < 20; i++)
        deeper(i, size);
    expect(pthread_create(&thread, NULL, in_thread, (void *)(uintptr_t)size) == 0, "no thread");
    pthread_join(thread, NULL);
    pid_t pid = fork();
    if (pid == 0) {
        become_child();
        deeper(3, size);
        tell();
        _exit(7);
    }
    expect(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7,
           "the child failed");
}

/* Closes everything, then opens files of its own: what is in them is its own. */
static void own_file(int fd)
{
    static char text[65536];
    memset(text, 'x', sizeof text);
    expect(write(fd, text, sizeof text) == (ssize_t)sizeof text, "a write failed");
}

static void close_all(void)
{
    char name[64];
    work(9461, 20);
    syscall(SYS_close_range, 3u, ~0u, 0);
    int fds[20];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "own-%d", i);
        fds[i] = open(name, O_CREAT | O_TRUNC | O_RDWR, 0600);
        own_file(fds[i]);
    }
    for (int i = 0; i < 200; i++)
        deeper(i % 40, 9461);
    all_kinds(9461);
    for (int i = 0; i < 20; i++) {
        struct stat facts;
        expect(fds[i] == i + 3, "a descriptor was in use");
        expect(fstat(fds[i], &facts) == 0 && facts.st_size == 65536,
               "somebody wrote into a file of the program");
    }
}

static void close_loop(void)
{
    work(9463, 20);
    for (int fd = 3; fd < 1024; fd++)
        expect(close(fd) == -1, "there was a descriptor that the program did not open");
    all_kinds(9463);
}

static void occupy_all(void)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 3; fd < 500; fd++)
        dup2(null, fd);
    all_kinds(9467);
    for (int fd = 3; fd < 500; fd++)
        expect(fcntl(fd, F_GETFL) >= 0, "a descriptor of the program was closed");
}

static void no_stderr(void)
{
    close(0);
    close(2);
    int fd = open("instead", O_CREAT | O_TRUNC | O_RDWR, 0600),
        other = open("of", O_CREAT | O_TRUNC | O_RDWR, 0600);
    all_kinds(9473);
    expect(fd == 0 && other == 2, "0 and 2 were taken");
    expect(lseek(fd, 0, SEEK_END) == 0 && lseek(other, 0, SEEK_END) == 0, "somebody wrote to 0 or 2");
}

/* How many descriptors there are, by the numbers that exist and by those that can be tried. */
static int count_descriptors(void)
{
    char entries[4096];
    int tried = 0, listed = 0;
    for (int fd = 0; fd < (int)sysconf(_SC_OPEN_MAX) && fd < 20000; fd++)
        tried += fcntl(fd, F_GETFD) >= 0;
    int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (long got; (got = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;) {
        for (long at = 0; at < got; at += *(unsigned short *)(entries + at + 16))
            listed += entries[at + 19] != '.';
    }
    close(folder);
    expect(listed == tried + 1, "a descriptor is out of reach"); /* and that of the folder itself */
    return tried;
}

/* In what was executed: only what its parent meant it to have. */
static void heir(void)
{
    work(9474, 10);
    expect(count_descriptors() == 4 && fcntl(9, F_GETFD) == 0, "there is a descriptor that nobody gave");
    work(9474, 10);
}

static void expect_heir(int is_spawned)
{
    char *arguments[] = {hostile_argv[0], "heir", NULL};
    int ends[2], status;
    pid_t pid;
    char byte;
    expect(pipe2(ends, O_CLOEXEC) == 0 && dup2(ends[1], 9) == 9, "no pipe"); /* 9 is inherited */
    if (is_spawned) {
        expect(posix_spawn(&pid, hostile_argv[0], NULL, NULL, arguments, environ) == 0, "no spawn");
    } else if ((pid = fork()) == 0) {
        become_child();
        work(9474, 10);
        expect(count_descriptors() == 6, "a forked child has other descriptors");
        tell();
        execv(hostile_argv[0], arguments);
        _exit(92);
    }
    close(ends[1]);
    close(9);
    expect(read(ends[0], &byte, 1) == 0, "no end of file"); /* once nobody has the other end any more */
    close(ends[0]);
    expect(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0,
           "the child failed");
}

static void heirs(void)
{
    expect(count_descriptors() == 3, "the program has a descriptor that it did not open");
    work(9474, 10);
    expect_heir(0);
    expect_heir(1);
    expect(count_descriptors() == 3, "a descriptor is left over");
}

static void limited(int which, rlim_t amount, size_t size)
{
    work(size, 4);
    setrlimit((__rlimit_resource_t)which, &(struct rlimit){amount, amount});
    all_kinds(size);
}

static void limit_files(void)
{
    limited(RLIMIT_FSIZE, 0, 9479);
}

static void limit_memory(void)
{
    limited(RLIMIT_AS, 400u << 20, 9491);
}

static void limit_data(void)
{
    limited(RLIMIT_DATA, 64u << 20, 9491);
}

static void limit_descriptors(void)
{
    limited(RLIMIT_NOFILE, 3, 9497);
}

static void limit_locked(void)
{
    expect(mlockall(MCL_CURRENT | MCL_FUTURE) == 0 || errno == EPERM || errno == ENOMEM, "mlockall");
    all_kinds(9511);
}

/* Out of memory, with a limit: the program's own error path runs. */
static void out_of_memory(void)
{
    void *blocks[64];
    int count = 0;
    setrlimit(RLIMIT_AS, &(struct rlimit){300u << 20, 300u << 20});
    while (count < 64 && (blocks[count] = truth_keep(malloc(16000011))) != NULL)
        count++;
    expect(count < 64 && errno == ENOMEM, "memory without end");
    for (int i = 0; i < count; i++) {
        count_made(16000011);
        count_freed(16000011);
        free(blocks[i]);
    }
    memset(hostile_counts, 0, sizeof hostile_counts); /* how many depends on what else is mapped */
    work(9521, 10);
}

static void not_dumpable(void)
{
    prctl(PR_SET_DUMPABLE, 0);
    all_kinds(9533);
}

static void no_new_privileges(void)
{
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    all_kinds(9533);
}

static void drop_root(void)
{
    work(9539, 5);
    expect(setgroups(0, NULL) == 0 && setresgid(65534, 65534, 65534) == 0 &&
               setresuid(65534, 65534, 65534) == 0,
           "rights cannot be dropped");
    all_kinds(9539);
}

static void new_root(void)
{
    mkdir("empty", 0755);
    expect(chroot("empty") == 0 && chdir("/") == 0, "no chroot");
    all_kinds(9547);
}

static void namespaces(void)
{
    work(9551, 5);
    expect(unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET) == 0, "no namespaces");
    all_kinds(9551);
}

/* There is no /proc: for what runs, for what is forked, for what is executed. */
static void without_proc(void)
{
    expect(open("/proc/self/maps", O_RDONLY | O_CLOEXEC) == -1 && errno == ENOENT, "there is a /proc");
    all_kinds(9552);
}

static void no_proc(void)
{
    char *arguments[] = {hostile_argv[0], "without_proc", NULL};
    int status;
    pid_t pid;
    work(9553, 5);
    expect(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
               mount("none", "/proc", "tmpfs", 0, NULL) == 0,
           "/proc cannot be hidden");
    all_kinds(9553);
    expect(posix_spawn(&pid, hostile_argv[0], NULL, NULL, arguments, environ) == 0, "no spawn");
    expect(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0,
           "the child failed");
    tell();
    execv(hostile_argv[0], arguments);
}

/* In a new namespace of processes the child is number 1; it cannot tell its number outside. */
static void pid_namespace(void)
{
    int status;
    expect(unshare(CLONE_NEWPID) == 0, "no namespace");
    work(9587, 5);
    pid_t pid = fork();
    if (pid == 0) {
        deeper(5, 9601);
        _exit(getpid() == 1 ? 7 : 8);
    }
    expect(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7, "the child failed");
}

/* Only read, write and _exit are left, and a look at the CPU's counter is a SIGSEGV; for so
 * long that anybody would look. */
static void in_strict_mode(void)
{
    for (int i = 0; i < 3000; i++)
        drop(make(9613), 9613);
    tell();
    syscall(SYS_exit, 0);
}

static void strict(void)
{
    work(9613, 100); /* libc has room now for all that follows */
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    in_strict_mode();
}

static void strict_by_syscall(void)
{
    work(9613, 100);
    syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
    in_strict_mode();
}

/* The stacks that are taken there are deeper than any before. */
static NOINLINE void deep_in_strict_mode(int depth)
{
    volatile int here = depth;
    if (depth == 0)
        drop(make(9613), 9613);
    else
        deep_in_strict_mode(depth - 1);
    here = here + 1;
}

static void strict_deep(void)
{
    work(9613, 100);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    deep_in_strict_mode(5000);
    in_strict_mode();
}

/* A filter for all threads that ends whoever makes one of three calls. */
static void forbid(unsigned first, unsigned second, unsigned third)
{
    struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 3, 0),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, second, 2, 0),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, third, 1, 0),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    expect(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
               syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0,
           "no filter");
}

/* A thread that allocates for the first time when nobody may ask for memory, nor who it is. */
static volatile int is_forbidden;

static void *wait_and_work(void *unused)
{
    while (!is_forbidden)
        sched_yield();
    deeper(2000, 9617);
    return unused;
}

static void late_threads(void)
{
    pthread_t threads[20];
    mallopt(M_ARENA_MAX, 1); /* no arena of its own, for which libc would need memory */
    void *room = make(9619000);
    drop(room, 9619000);
    work(9617, 100);
    for (int i = 0; i < 20; i++)
        expect(pthread_create(&threads[i], NULL, wait_and_work, NULL) == 0, "no thread");
    forbid(SYS_mmap, SYS_gettid, SYS_getpid);
    is_forbidden = 1;
    for (int i = 0; i < 20; i++)
        pthread_join(threads[i], NULL);
}

/* Only exec itself may look for the program, which is not there. */
static void filtered_exec(void)
{
    static char name[] = "there-is-no-such-program", path[] = "/there/is/none";
    char *const arguments[] = {name, NULL}, *const nothing[] = {NULL};
    pid_t pid;
    work(9615, 10);
    forbid(SYS_openat, SYS_faccessat, SYS_pread64); /* files, and who asks for one */
    expect(execv(path, arguments) == -1 && errno == ENOENT, "execv");
    expect(execve(path, arguments, nothing) == -1 && errno == ENOENT, "execve");
    expect(execvp(name, arguments) == -1 && errno == ENOENT, "execvp");
    expect(execvpe(name, arguments, nothing) == -1 && errno == ENOENT, "execvpe");
    expect(posix_spawn(&pid, path, NULL, NULL, arguments, nothing) == ENOENT, "posix_spawn");
    expect(posix_spawnp(&pid, name, NULL, NULL, arguments, nothing) == ENOENT, "posix_spawnp");
    deeper(30, 9615);
}

/* A child that no hook has seen being made, and that has made nothing yet; its parent is busy with
 * more than fits into buffers. */
static void *churn(void *unused)
{
    for (int i = 0; i < 300000; i++)
        drop(make(9616), 9616);
    return unused;
}

static void strict_child(void)
{
    pthread_t threads[2];
    int status;
    work(9616, 10);
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0) {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        syscall(SYS_exit, 7);
    }
    expect(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7,
           "the child failed");
    for (int i = 0; i < 2; i++)
        expect(pthread_create(&threads[i], NULL, churn, NULL) == 0, "no thread");
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

/* Four threads hand blocks to each other through one place, so that their order shows. */
static void *passed_on[1];

static void *pass_on(void *unused)
{
    for (int i = 0; i < 500; i++) {
        void *other = __atomic_exchange_n(passed_on, make(9614), __ATOMIC_ACQ_REL);
        if (other != NULL)
            drop(other, 9614);
    }
    return unused;
}

static void without_counter(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        expect(pthread_create(&threads[i], NULL, pass_on, NULL) == 0, "no thread");
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    all_kinds(9614);
}

static void no_counter(void)
{
    work(9614, 10);
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    without_counter();
}

static void no_counter_by_syscall(void)
{
    work(9614, 10);
    syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    without_counter();
}

static void folder_gone(void)
{
    mkdir("gone", 0755);
    expect(chdir("gone") == 0 && rmdir("../gone") == 0, "no folder to lose");
    all_kinds(9619);
}

HOSTILE_CASES({"close_all", close_all}, {"close_loop", close_loop}, {"occupy_all", occupy_all},
              {"no_stderr", no_stderr}, {"limit_files", limit_files}, {"limit_memory", limit_memory},
              {"limit_data", limit_data}, {"limit_descriptors", limit_descriptors},
              {"limit_locked", limit_locked}, {"out_of_memory", out_of_memory},
              {"not_dumpable", not_dumpable}, {"no_new_privileges", no_new_privileges},
              {"drop_root", drop_root}, {"new_root", new_root}, {"namespaces", namespaces},
              {"pid_namespace", pid_namespace}, {"strict", strict}, {"strict_by_syscall", strict_by_syscall},
              {"strict_child", strict_child}, {"strict_deep", strict_deep}, {"late_threads", late_threads},
              {"no_counter", no_counter}, {"no_counter_by_syscall", no_counter_by_syscall},
              {"folder_gone", folder_gone}, {"filtered_exec", filtered_exec}, {"heir", heir},
              {"heirs", heirs}, {"no_proc", no_proc}, {"without_proc", without_proc})

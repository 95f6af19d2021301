/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * launch: see launch.h.
 */
#include "collect/launch.h"

#include "collect/procfs.h"
#include "collect/timebase.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* All but those that stop us with the program, that are ignored here, or that nobody can take. */
static void launch_fill_signals(sigset_t *set)
{
    static const int left_alone[] = {SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ, SIGKILL, SIGSTOP};
    sigfillset(set);
    for (size_t i = 0; i < sizeof left_alone / sizeof *left_alone; i++)
        sigdelset(set, left_alone[i]);
}

/* As many descriptors as may be had: the program gets the limit back. */
static void launch_raise_files(struct launch *l)
{
    if (getrlimit(RLIMIT_NOFILE, &l->old_files) != 0) {
        l->old_files = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
        return;
    }
    struct rlimit more = {l->old_files.rlim_max, l->old_files.rlim_max};
    (void)setrlimit(RLIMIT_NOFILE, &more);
}

int launch_prepare(struct launch *l, struct err *err)
{
    memset(l, 0, sizeof *l);
    l->signal_fd = -1;
    launch_raise_files(l);
    sigset_t set;
    launch_fill_signals(&set);
    sigprocmask(SIG_BLOCK, &set, &l->old_mask);
    struct sigaction ignore = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};
    sigaction(SIGPIPE, &ignore, &l->old_pipe);
    sigaction(SIGXFSZ, &ignore, &l->old_fsize); /* a file too large is an error, not our death */
    sigaction(SIGCHLD, &usual, &l->old_child);  /* ignored, it would hide how the program ended */
    l->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (l->signal_fd < 0)
        return err_set(err, ERR_SYSTEM, "The collector cannot watch signals: %s.", strerror(errno));
    return 0;
}

/* Everything as the user had it, then the program; errno where that fails. */
static int launch_exec(const struct launch *l, char *const argv[])
{
    sigaction(SIGPIPE, &l->old_pipe, NULL);
    sigaction(SIGXFSZ, &l->old_fsize, NULL);
    sigaction(SIGCHLD, &l->old_child, NULL);
    (void)setrlimit(RLIMIT_NOFILE, &l->old_files);
    sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
    execvp(argv[0], argv);
    return errno;
}

static int launch_refused(const struct launch *l, const char *program, struct err *err)
{
    return err_set(err, l->exec_error == ENOENT ? ERR_ABSENT : ERR_SYSTEM, "'%s' cannot be run: %s.", program,
                   strerror(l->exec_error));
}

int launch_become(struct launch *l, char *const argv[], struct err *err)
{
    l->exec_error = launch_exec(l, argv);
    return launch_refused(l, argv[0], err);
}

static void launch_child(const struct launch *l, char *const argv[], char *const more[], int report)
{
    for (size_t i = 0; more[i] != NULL; i++)
        (void)putenv(more[i]);
    int error = launch_exec(l, argv);
    while (write(report, &error, sizeof error) < 0 && errno == EINTR)
        continue;
    _exit(error == ENOENT ? 127 : 126);
}

int launch_start(struct launch *l, char *const argv[], char *const more[], struct err *err)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0)
        return err_set(err, ERR_SYSTEM, "No pipe can be made: %s.", strerror(errno));
    l->pid = fork();
    if (l->pid == 0)
        launch_child(l, argv, more, report[1]);
    int error = l->pid < 0 ? errno : 0;
    close(report[1]);
    ssize_t got = 0;
    while (l->pid > 0 && (got = read(report[0], &l->exec_error, sizeof l->exec_error)) < 0 && errno == EINTR)
        continue;
    close(report[0]);
    if (l->pid < 0) {
        l->pid = 0;
        return err_set(err, ERR_SYSTEM, "No process can be started: %s.", strerror(error));
    }
    if (got != sizeof l->exec_error) {
        l->exec_error = 0;
        return 0;
    }
    (void)waitpid(l->pid, &l->status, 0);
    l->has_ended = true;
    return launch_refused(l, argv[0], err);
}

/* Is the program in a group of its own, which the terminal does not know? Alone it would be the one in front. */
static bool launch_is_apart(const struct launch *l)
{
    return getpgid(l->pid) != getpgrp();
}

static bool launch_is_of_terminal(int signal)
{
    return signal == SIGINT || signal == SIGQUIT || signal == SIGTSTP || signal == SIGWINCH ||
           signal == SIGHUP;
}

/* As the terminal does it. */
static void launch_send_group(const struct launch *l, int signal)
{
    bool leads = launch_is_apart(l) && getpgid(l->pid) == l->pid;
    (void)kill(leads ? -l->pid : l->pid, signal);
}

/* Stops here, unless nobody could continue us. */
static void launch_stop(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTSTP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* The program was stopped: from the terminal means us too, also where it has heard that from the terminal, made
 * ready and stopped itself for good, as top does. */
static void launch_follow_stop(const struct launch *l)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)l->pid, &info, WSTOPPED | WNOHANG) != 0 || info.si_pid == 0)
        return;
    int signal = info.si_status;
    bool is_asked = l->stop_ns != 0 && timebase_now() - l->stop_ns < LAUNCH_STOP_S * UINT64_C(1000000000);
    if (signal != SIGTSTP && signal != SIGTTIN && signal != SIGTTOU && !(signal == SIGSTOP && is_asked))
        return;
    launch_stop();
    /* Who has continued us has continued the program too, or meant to: it hears of it once. */
    sigset_t set;
    struct timespec at_once = {0};
    sigemptyset(&set);
    sigaddset(&set, SIGCONT);
    (void)sigtimedwait(&set, NULL, &at_once);
    info.si_pid = 0;
    if (waitid(P_PID, (id_t)l->pid, &info, WCONTINUED | WNOHANG) != 0 || info.si_pid == 0)
        launch_send_group(l, SIGCONT);
}

/* The first process of a container is given all orphans there, and whoever waits for their end waits for us. */
static void launch_reap_orphans(const struct launch *l)
{
    siginfo_t info = {0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0 &&
           info.si_pid != l->pid) {
        (void)waitpid(info.si_pid, NULL, WNOHANG);
        info.si_pid = 0;
    }
}

void launch_note(struct launch *l, pid_t pid)
{
    l->latest[l->next_latest++ % LAUNCH_LATEST] = pid;
}

/* Is it the program, or a process that it has started? One that is gone already is known if it was recorded. */
static bool launch_is_of_program(const struct launch *l, pid_t pid)
{
    pid_t parent = (pid_t)procfs_parent((uint32_t)pid);
    for (unsigned i = 0; i < LAUNCH_LATEST && parent == 0; i++) {
        if (l->latest[i] == pid && pid != 0)
            return true;
    }
    for (unsigned steps = 0; steps < LAUNCH_LATEST && pid != l->pid && parent > 0; steps++) {
        pid = parent;
        parent = (pid_t)procfs_parent((uint32_t)pid);
    }
    return pid == l->pid;
}

static void launch_pass_on(const struct launch *l, const struct signalfd_siginfo *s)
{
    if (s->ssi_code == SI_QUEUE)
        (void)sigqueue(l->pid, (int)s->ssi_signo, (union sigval){.sival_ptr = (void *)(uintptr_t)s->ssi_ptr});
    else
        (void)kill(l->pid, (int)s->ssi_signo);
}

/* Who is left when the program is over, and somebody has asked to leave, is not waited for without end. */
static void launch_hurry(struct launch *l)
{
    bool is_over = l->pid == 0 || l->has_ended;
    if (is_over && l->leave_ns == 0 && l->is_asked)
        l->leave_ns = timebase_now() + LAUNCH_GRACE_S * UINT64_C(1000000000);
}

static void launch_take_signal(struct launch *l, const struct signalfd_siginfo *s)
{
    int signal = (int)s->ssi_signo;
    bool is_sent = s->ssi_code == SI_USER || s->ssi_code == SI_QUEUE || s->ssi_code == SI_TKILL;
    if (l->pid != 0 && !l->has_ended) {
        if (is_sent && !launch_is_of_program(l, (pid_t)s->ssi_pid)) {
            launch_pass_on(l, s);
            l->is_asked |= signal == SIGTERM || signal == SIGINT;
        } else if (!is_sent && launch_is_of_terminal(signal) && launch_is_apart(l)) {
            launch_send_group(l, signal);
        }
        if (!is_sent && signal == SIGTSTP)
            l->stop_ns = timebase_now();
        return;
    }
    if (signal == SIGTSTP)
        launch_stop();
    l->terms += signal == SIGTERM;
    l->interrupts += signal == SIGINT;
    l->is_asked |= signal == SIGTERM || signal == SIGINT;
    l->leave |= l->terms >= 2 || l->interrupts >= 2;
    launch_hurry(l);
}

void launch_take_signals(struct launch *l)
{
    struct signalfd_siginfo s;
    bool has_news = false;
    while (read(l->signal_fd, &s, sizeof s) == sizeof s) {
        if (s.ssi_signo == SIGCHLD)
            has_news = true;
        else
            launch_take_signal(l, &s);
    }
    if (!has_news) /* of the program; what came before is known by now, whatever the order of the numbers */
        return;
    if (l->pid != 0 && !launch_reap(l))
        launch_follow_stop(l);
    launch_reap_orphans(l);
}

bool launch_is_left(const struct launch *l)
{
    return l->leave || (l->leave_ns != 0 && timebase_now() >= l->leave_ns);
}

bool launch_reap(struct launch *l)
{
    struct rusage used;
    if (l->pid == 0 || l->has_ended)
        return l->has_ended;
    pid_t got = wait4(l->pid, &l->status, WNOHANG, &used);
    if (got == l->pid) {
        l->has_ended = true;
        l->max_rss = (uint64_t)used.ru_maxrss * 1024;
    } else if (got < 0 && errno == ECHILD) {
        l->has_ended = true;
        l->status = 0;
    }
    launch_hurry(l);
    return l->has_ended;
}

void launch_release(struct launch *l)
{
    if (l->signal_fd >= 0)
        close(l->signal_fd);
    l->signal_fd = -1;
}

_Noreturn void launch_exit_like(const struct launch *l)
{
    if (WIFEXITED(l->status))
        exit(WEXITSTATUS(l->status));
    int signal = WTERMSIG(l->status);
    struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(signal, &usual, NULL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    raise(signal);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    exit(128 + signal);
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * keeper CASE [BLOCKS]: what becomes of a program whose recorder does not do its part, since the program sees
 * to that itself. Alone it has none, and does the same. Each block comes by a way of its own, so that
 * there is soon more to tell than fits in between (HEAPWAKE_POOL=1M).
 */
#include "hostile.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

enum { PATIENCE_MS = 30000, DEPTH = 48 };

static int read_file(const char *format, int pid, char *text, size_t room)
{
    char path[64];
    snprintf(path, sizeof path, format, pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* The letter of its state, and the number of its parent. */
static char look_at(int pid, int *parent)
{
    char text[512], state = '?';
    if (!read_file("/proc/%d/stat", pid, text, sizeof text) || strrchr(text, ')') == NULL)
        return '?';
    return sscanf(strrchr(text, ')'), ") %c %d", &state, parent) == 2 ? state : '?';
}

/* The nearest of those above us that is called heapwake; 0 where there is none. */
static int find_recorder(void)
{
    char name[32];
    for (int pid = getppid(), parent = 0; pid > 1; pid = parent) {
        if (read_file("/proc/%d/comm", pid, name, sizeof name) && strcmp(name, "heapwake\n") == 0)
            return pid;
        if (look_at(pid, &parent) == '?')
            break;
    }
    return 0;
}

static NOINLINE void *by_zero(unsigned way, int depth, size_t size);

static NOINLINE void *by_one(unsigned way, int depth, size_t size)
{
    void *block = depth == 0 ? make(size) : by_zero(way * 1664525u + 1013904223u, depth - 1, size);
    return truth_keep(block);
}

static NOINLINE void *by_zero(unsigned way, int depth, size_t size)
{
    if (depth == 0)
        return truth_keep(make(size));
    return truth_keep((way >> 17 & 1) != 0 ? by_one(way * 22695477u + 1, depth - 1, size)
                                           : by_zero(way * 1103515245u + 12345, depth - 1, size));
}

static void work_by_many_ways(size_t size, unsigned blocks)
{
    static unsigned way;
    for (unsigned i = 0; i < blocks; i++) {
        void *block = by_zero(++way * 2654435761u, DEPTH, size);
        if (i % 2 == 0)
            drop(block, size);
    }
}

/* ------------------------------------------------------------------- stopped */

/* Another process, which lets the recorder go on when that has been stopped for a while. */
static int start_waker(int recorder, int *pipe_end)
{
    int ends[2];
    char byte;
    if (pipe(ends) != 0)
        _exit(94);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        if (read(ends[0], &byte, 1) >= 0) /* or we have died */
            usleep(15000);
        if (recorder != 0)
            kill(recorder, SIGCONT);
        _exit(0);
    }
    close(ends[0]);
    *pipe_end = ends[1];
    return pid;
}

static int stop_recorder(int *pipe_end)
{
    int recorder = find_recorder(), waker = start_waker(recorder, pipe_end), parent;
    if (recorder != 0) {
        kill(recorder, SIGSTOP);
        for (int i = 0; i < PATIENCE_MS && look_at(recorder, &parent) != 'T'; i++)
            usleep(1000);
    }
    if (write(*pipe_end, "!", 1) != 1)
        _exit(93);
    return waker;
}

static void wait_for(int pid)
{
    int status;
    expect(waitpid(pid, &status, 0) == pid && status == 0, "a child did not end well");
}

static void stops_recorder(void)
{
    int end;
    work_by_many_ways(10193, 10);
    int waker = stop_recorder(&end);
    work_by_many_ways(10193, 3000);
    wait_for(waker);
}

/* A process that begins while the recorder hears nothing. */
static void forks_meanwhile(void)
{
    int end, waker = stop_recorder(&end);
    pid_t child = fork();
    if (child == 0) {
        become_child();
        work_by_many_ways(10211, 100);
        tell();
        _exit(0);
    }
    work_by_many_ways(10211, 100);
    wait_for(child);
    wait_for(waker);
}

/* -------------------------------------------------------------------- killed */

/* After so many blocks; what comes then is more than fits, and nobody takes it. */
static void kills_recorder(void)
{
    int recorder = find_recorder();
    work_by_many_ways(10223, hostile_argc > 2 ? (unsigned)atoi(hostile_argv[2]) : 100);
    if (recorder != 0)
        kill(recorder, SIGKILL);
    work_by_many_ways(10223, 3000);
    pid_t child = fork();
    if (child == 0) {
        become_child();
        work_by_many_ways(10223, 100);
        tell();
        _exit(0);
    }
    wait_for(child);
}

static void only_works(void)
{
    work_by_many_ways(10243, hostile_argc > 2 ? (unsigned)atoi(hostile_argv[2]) : 1000);
}

HOSTILE_CASES({"stops_recorder", stops_recorder}, {"forks_meanwhile", forks_meanwhile},
              {"kills_recorder", kills_recorder}, {"only_works", only_works})

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * drawing: see drawing.h.
 *
 * Exporters write text and know of no processes; what draws the text is the
 * user's own graphviz, so that we need none to be built or installed.
 */
#include "cmd/drawing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/file.h"

extern char **environ;

/* We ignore SIGPIPE; the child must not. */
static int drawing_spawn(struct drawing *d, const char *kind, int from, int to)
{
    char option[16];
    char name[] = "dot";
    char *argv[] = {name, option, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t pipes;
    /* Graphviz's own PostScript has the characters of Latin-1 alone; that of cairo, which draws pdf too, has all. */
    snprintf(option, sizeof option, "-T%s%s", kind, strcmp(kind, "ps") == 0 ? ":cairo" : "");
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &pipes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
    int error = posix_spawnp(&d->pid, name, &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

int drawing_begin(struct drawing *d, const char *kind, int to, struct err *err)
{
    int ends[2];
    *d = (struct drawing){.in = -1, .to = to};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_set(err, ERR_SYSTEM, "There is no pipe to graphviz's dot: %s.", strerror(errno));
    int error = drawing_spawn(d, kind, ends[0], to);
    close(ends[0]);
    if (error == 0) {
        d->in = ends[1];
        return 0;
    }
    d->pid = 0;
    close(ends[1]);
    if (error == ENOENT)
        return err_set(err, ERR_ABSENT,
                       "%s is drawn by 'dot' of graphviz, which is not installed here; "
                       "the format dot is what it would draw.",
                       kind);
    return err_set(err, ERR_SYSTEM, "graphviz's dot cannot be started: %s.", strerror(error));
}

/* dot does not say why it cannot write.  Where the file takes not one byte more, that is why; the picture
 * is broken in any case. */
static int drawing_ask_room(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || write(fd, "\n", 1) == 1)
        return 0;
    return file_code(errno) == ERR_FULL ? errno : 0;
}

int drawing_end(struct drawing *d, struct err *err)
{
    int status = 0;
    if (d->pid == 0)
        return 0;
    close(d->in);
    while (waitpid(d->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    d->pid = 0;
    d->is_unheard = WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE;
    if (d->is_unheard || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return 0;
    if (WIFSIGNALED(status))
        return err_set(err, ERR_SYSTEM, "graphviz's dot was ended by signal %d.", WTERMSIG(status));
    int full = drawing_ask_room(d->to);
    if (full != 0)
        return err_set(err, ERR_FULL, "There is no room left to write the picture: %s.", strerror(full));
    return err_set(err, ERR_SYSTEM, "graphviz's dot failed with status %d.", WEXITSTATUS(status));
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * playing: see playing.h.
 *
 * The score is a file and not memory: it can be larger than what there is, and is
 * read from front to end.
 */
#include "cmd/playing.h"

#include "tool/file.h"
#include "tool/strbuf.h"
#include "tool/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PLAYING_SCORE = 3, /* descriptors of the player */
    PLAYING_RESULT = 4,
    PLAYING_HIGH = 10, /* where ours are meanwhile, out of the way of these */
};

/* ------------------------------------------------------------------- score */

static int playing_make_file(uint64_t bytes, struct err *err)
{
    const char *folder = getenv("TMPDIR");
    struct strbuf name;
    strbuf_init(&name);
    if (folder == NULL || folder[0] == '\0')
        folder = "/tmp";
    strbuf_addf(&name, "%s/heapwake.XXXXXX", folder);
    int fd = name.failed ? -1 : mkostemp(name.text, O_CLOEXEC);
    int error = fd < 0 ? errno : 0;
    if (fd >= 0) {
        unlink(strbuf_get(&name));
        error = posix_fallocate(fd, 0, (off_t)bytes);
    }
    strbuf_release(&name);
    if (error == 0)
        return fd;
    file_close(fd);
    return err_set(err, file_code(error), "No file of %llu bytes can be made in %s for the replay: %s.",
                   (unsigned long long)bytes, folder, strerror(error));
}

int playing_write_score(int *fd, struct replay_script *c, struct wake_reader *r, struct err *err)
{
    *fd = playing_make_file(c->bytes, err);
    if (*fd < 0)
        return *fd;
    void *memory = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    int code = memory == MAP_FAILED ? err_no_memory(err) : replay_script_write(c, r, memory, err);
    if (memory != MAP_FAILED)
        munmap(memory, c->bytes);
    if (code != 0) {
        file_close(*fd);
        *fd = -1;
    }
    return code;
}

/* ------------------------------------------------------------------ player */

/* HEAPWAKE_PLAYER, beside our own binary, or where it is installed. */
static int playing_find(char *path, struct err *err)
{
    static const char *const places[] = {"", "../libexec/heapwake/", "../lib/heapwake/"};
    const char *given = getenv("HEAPWAKE_PLAYER");
    char own[PATH_MAX];
    if (given != NULL && given[0] != '\0') {
        if (realpath(given, path) == NULL || access(path, X_OK) != 0)
            return err_set(err, ERR_ABSENT, "HEAPWAKE_PLAYER names '%s', which cannot be run.", given);
        return 0;
    }
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(own, '/');
    for (size_t i = 0; slash != NULL && i < sizeof places / sizeof *places; i++) {
        struct strbuf at;
        strbuf_init(&at);
        strbuf_add(&at, own, (size_t)(slash - own) + 1);
        strbuf_addf(&at, "%sheapwake-player", places[i]);
        bool found = realpath(strbuf_get(&at), path) != NULL && access(path, X_OK) == 0;
        strbuf_release(&at);
        if (found)
            return 0;
    }
    return err_set(err, ERR_ABSENT,
                   "heapwake-player is neither beside heapwake nor in ../libexec/heapwake; HEAPWAKE_PLAYER "
                   "can name it.");
}

static int playing_spawn(pid_t *pid, const char *player, int score, int result, enum score_touch touch,
                         enum score_lead lead, const char *file)
{
    struct strbuf preload;
    VEC(char *) env = {0};
    posix_spawn_file_actions_t actions;
    char touched[8], leading[8];
    strbuf_init(&preload);
    strbuf_addf(&preload, "LD_PRELOAD=%s", file == NULL ? "" : file);
    bool fine = !preload.failed;
    for (char **e = environ; *e != NULL && fine; e++)
        fine = strncmp(*e, "LD_PRELOAD=", 11) == 0 || vec_push(&env, *e);
    fine = fine && (file == NULL || vec_push(&env, preload.text)) && vec_push(&env, NULL);
    snprintf(touched, sizeof touched, "%d", (int)touch);
    snprintf(leading, sizeof leading, "%d", (int)lead);
    char *const arguments[] = {
        (char *)"heapwake-player", (char *)"3", (char *)"4", touched, leading, (char *)file, NULL};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, score, PLAYING_SCORE);
    posix_spawn_file_actions_adddup2(&actions, result, PLAYING_RESULT);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int error = fine ? posix_spawn(pid, player, &actions, NULL, arguments, env.data) : ENOMEM;
    posix_spawn_file_actions_destroy(&actions);
    vec_release(&env);
    strbuf_release(&preload);
    return error;
}

/* What the player wrote; false: nothing of use. */
static bool playing_read(int fd, struct score_result *result)
{
    size_t length = 0;
    while (length < sizeof *result) {
        ssize_t got = read(fd, (char *)result + length, sizeof *result - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        length += (size_t)got;
    }
    result->path[sizeof result->path - 1] = '\0';
    return result->magic == SCORE_MAGIC;
}

static int playing_wait(pid_t pid, int from, struct score_result *result, struct err *err)
{
    int status = 0;
    bool told = playing_read(from, result);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (told)
        return 0;
    if (WIFSIGNALED(status))
        return err_set(err, ERR_SYSTEM, "it was killed by signal %d (%s)", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
    return err_set(err, ERR_SYSTEM, "the player ended with exit code %d and said nothing",
                   WEXITSTATUS(status));
}

int playing_run(int score, enum score_touch touch, enum score_lead lead, const char *file,
                struct score_result *result, struct err *err)
{
    char player[PATH_MAX];
    int pipes[2] = {-1, -1}, high[2] = {-1, -1};
    pid_t pid = -1;
    int code = playing_find(player, err);
    if (code != 0)
        return code;
    int error = pipe2(pipes, O_CLOEXEC) == 0 ? 0 : errno;
    if (error == 0) {
        high[0] = fcntl(score, F_DUPFD_CLOEXEC, PLAYING_HIGH);
        high[1] = fcntl(pipes[1], F_DUPFD_CLOEXEC, PLAYING_HIGH);
        error = high[0] < 0 || high[1] < 0 ? errno
                                           : playing_spawn(&pid, player, high[0], high[1], touch, lead, file);
    }
    file_close(high[0]);
    file_close(high[1]);
    file_close(pipes[1]);
    code = error == 0 ? playing_wait(pid, pipes[0], result, err)
                      : err_set(err, ERR_SYSTEM, "the player cannot be started: %s", strerror(error));
    file_close(pipes[0]);
    return code;
}

const char *playing_describe(const struct score_result *result)
{
    switch (result->outcome) {
    case SCORE_NO_MEMORY:
        return "the player got no memory for itself";
    case SCORE_NO_THREAD:
        return "the system refused a thread";
    case SCORE_NO_RSS:
        return "/proc does not tell how much memory is in use";
    default:
        return "the prepared trace makes no sense";
    }
}

uint64_t playing_available(void)
{
    char *text = NULL;
    size_t length;
    uint64_t bytes = UINT64_MAX;
    if (file_read_text(&text, &length, "/proc/meminfo", 1 << 16, NULL) != 0)
        return bytes;
    const char *at = strstr(text, "MemAvailable:");
    if (at != NULL)
        bytes = strtoull(at + 13, NULL, 10) * 1024;
    free(text);
    return bytes;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * collect: the collector of a program that was started with LD_PRELOAD alone.
 * The probe starts it and sends, over the socket it names, one message:
 *
 *     name:token NUL [NAME=VALUE NUL]...
 *
 * One byte goes back when the listener is there.  It prints nothing, unless
 * the user has asked for a log.
 */
#include "cmd/closing.h"
#include "cmd/command.h"
#include "cmd/finish.h"
#include "cmd/keeping.h"
#include "cmd/live_report.h"
#include "cmd/logging.h"
#include "cmd/settings.h"
#include "collect/collector.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { COLLECT_MESSAGE_MAX = 16384 };

/* The value of NAME among the settings behind the address; NULL = not there. */
static const char *collect_find(const char *message, size_t length, const char *name)
{
    size_t want = strlen(name);
    for (size_t at = strlen(message) + 1; at < length; at += strlen(message + at) + 1) {
        if (strncmp(message + at, name, want) == 0 && message[at + want] == '=')
            return message + at + want + 1;
    }
    return NULL;
}

struct collect_message {
    const char *text;
    size_t length;
};

static const char *collect_get(void *of, const char *name)
{
    const struct collect_message *m = of;
    return collect_find(m->text, m->length, name);
}

static bool collect_receive(int fd, char *message, size_t *length)
{
    ssize_t got;
    do
        got = recv(fd, message, COLLECT_MESSAGE_MAX - 1, 0);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return false;
    message[got] = '\0';
    *length = (size_t)got;
    return true;
}

/* The program's signal settings came along; none of them are ours. */
static void collect_reset_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    for (int i = 1; i < NSIG; i++)
        (void)signal(i, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int collect_work(int fd, const char *message, size_t length)
{
    static struct collector c;
    struct logging log;
    struct launch l;
    struct live_report reports = {0};
    struct err err;
    err_init(&err);
    const char *level = collect_find(message, length, "HEAPWAKE_LOG");
    const char *children = collect_find(message, length, "HEAPWAKE_CHILDREN");
    const char *names = collect_find(message, length, "HEAPWAKE_SYMBOLS");
    bool embeds = finish_wants_binaries(collect_find(message, length, "HEAPWAKE_EMBED_BINARIES"));
    logging_open(&log, level, collect_find(message, length, "HEAPWAKE_LOGFILE"),
                 level == NULL ? -1 : STDERR_FILENO);
    settings_check(&log);
    struct output_keeping keeping;
    struct collect_message told = {message, length};
    keeping_read(&keeping, collect_get, &told);
    struct collector_options options = {
        .output = collect_find(message, length, "HEAPWAKE_OUTPUT"),
        .keeping = &keeping,
        .map_usage_ns = keeping_map_usage(collect_get, &told),
        .address = message,
        .children = children == NULL || strcmp(children, "no") != 0,
        .say = logging_say,
        .say_of = &log,
        .met = logging_meet,
        .wants_traces = logging_wants_traces(),
        .is_traced = log.level == LEVEL_TRACE,
        .report = live_report_write,
        .report_of = &reports,
    };
    if (launch_prepare(&l, &err) != 0 || collector_open(&c, &options, &l, &err) != 0) {
        logging_say(&log, LEVEL_ERROR, err.text);
        logging_close(&log);
        return EXIT_FAILED;
    }
    if (send(fd, "", 1, MSG_NOSIGNAL) != 1) {
        logging_say(&log, LEVEL_ERROR, "The program is gone.");
        logging_close(&log);
        collector_release(&c);
        return EXIT_FAILED;
    }
    close(fd);
    collector_run(&c);
    collector_close(&c);
    live_report_release(&reports);
    finish_collector(&c, finish_wants_names(names), embeds, false);
    struct strbuf line;
    strbuf_init(&line);
    closing_build(&line, &c, NULL);
    logging_say(&log, LEVEL_INFO, strbuf_get(&line));
    strbuf_release(&line);
    collector_release(&c);
    launch_release(&l);
    logging_close(&log);
    return EXIT_DONE;
}

static int collect_set_fd(void *to, const struct option *o, const char *value, struct err *err)
{
    char *end;
    long fd = strtol(value, &end, 10);
    (void)o;
    *(int *)to = (int)fd;
    if (*end == '\0' && fd >= 0 && fd <= 1 << 20)
        return 0;
    return err_set(err, ERR_USAGE, "--fd takes a descriptor, not '%s'.", value);
}

static int collect_take(void *options, char *word, struct err *err)
{
    (void)options;
    return err_set(err, ERR_USAGE, "'heapwake collect' takes no '%s'.", word);
}

static int collect_run(const struct command *self, int argc, char **argv)
{
    static char message[COLLECT_MESSAGE_MAX];
    size_t length;
    int fd = -1;
    struct err err;
    err_init(&err);
    if (options_parse(self, &fd, argc, argv, NULL, &err) != 0)
        return command_misused("%s", err.text);
    if (fd < 0)
        return command_misused("'heapwake collect' is started by the probe; people use 'heapwake record'.");
    collect_reset_signals();
    (void)setsid();
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (!collect_receive(fd, message, &length))
        return EXIT_FAILED;
    return collect_work(fd, message, length);
}

static const struct option collect_options[] = {
    {.names = "--fd", .argument = "N", .help = "the socket that says where to listen", .set = collect_set_fd},
    {0},
};

const struct command command_collect = {
    .name = "collect",
    .summary = "collect for a program that was started with LD_PRELOAD alone",
    .usage = "--fd N",
    .options = collect_options,
    .notes = "Started by the probe, not by people.",
    .operands = OPERANDS_WORDS,
    .is_internal = true,
    .run = collect_run,
    .take = collect_take,
};

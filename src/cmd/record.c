/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * record: runs a program and records it.  The exit status is the program's.
 */
#include "cmd/closing.h"
#include "cmd/command.h"
#include "cmd/finish.h"
#include "cmd/keeping.h"
#include "cmd/live_report.h"
#include "cmd/logging.h"
#include "cmd/preload.h"
#include "cmd/settings.h"
#include "collect/collector.h"
#include "collect/diagnose.h"
#include "tool/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct record_options {
    const char *output;
    bool children, quiet, names, binaries;
    char **program;
};

static int record_set(bool *answer, const char *option, const char *value)
{
    if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
        return command_misused("%s takes yes or no, not '%s'.", option, value);
    *answer = value[0] == 'y';
    return EXIT_DONE;
}

static int record_parse(struct record_options *o, char **argv)
{
    int at = 1;
    for (; argv[at] != NULL && argv[at][0] == '-'; at++) {
        const char *value;
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        if (command_option(argv, &at, "-o", &value) || command_option(argv, &at, "--output", &value)) {
            if (value[0] == '\0')
                return command_misused("-o needs the name of a file.");
            o->output = value;
        } else if (command_option(argv, &at, "--children", &value)) {
            if (record_set(&o->children, "--children", value) != EXIT_DONE)
                return EXIT_USAGE;
        } else if (command_option(argv, &at, "--symbols", &value)) {
            if (record_set(&o->names, "--symbols", value) != EXIT_DONE)
                return EXIT_USAGE;
        } else if (command_option(argv, &at, "--embed-binaries", NULL)) {
            o->binaries = true;
        } else if (command_option(argv, &at, "-q", NULL) || command_option(argv, &at, "--quiet", NULL)) {
            o->quiet = true;
        } else {
            int taken = settings_take(argv, &at);
            if (taken == EXIT_DONE)
                continue;
            if (taken != SETTINGS_NONE)
                return taken;
            return command_misused("'heapwake record' has no option '%s'; 'heapwake help record' lists them.",
                                   argv[at]);
        }
    }
    o->program = argv + at;
    if (o->program[0] == NULL)
        return command_misused("No program given: heapwake record [OPTION...] PROGRAM [ARGUMENT...]");
    return EXIT_DONE;
}

static const char *record_get(void *of, const char *name)
{
    (void)of;
    return getenv(name);
}

/* Options that are not given come from the environment. */
static void record_take_environment(struct record_options *o)
{
    const char *children = getenv("HEAPWAKE_CHILDREN");
    o->output = getenv("HEAPWAKE_OUTPUT");
    o->children = children == NULL || strcmp(children, "no") != 0;
    o->names = finish_wants_names(getenv("HEAPWAKE_SYMBOLS"));
    o->binaries = finish_wants_binaries(getenv("HEAPWAKE_EMBED_BINARIES"));
}

static int record_refused(const struct launch *l)
{
    return l->exec_error == 0 ? EXIT_FAILED : l->exec_error == ENOENT ? 127 : 126;
}

/* The system gives us too little to work with; the program may well run. */
static int record_alone(const struct record_options *o, struct launch *l, struct err *err)
{
    command_say("%s Nothing is recorded; the program runs as if alone.", err->text);
    (void)launch_become(l, o->program, err);
    command_say("%s", err->text);
    return record_refused(l);
}

static int record_run(struct record_options *o, struct collector *c, struct launch *l)
{
    struct err err;
    struct preload preload;
    err_init(&err);
    int code = preload_init(&preload, &c->listener, o->children, &err);
    char *const nothing[] = {NULL};
    bool foreign = diagnose_is_foreign(o->program[0], NULL);
    if (preload.other != NULL && !o->quiet)
        command_say("LD_PRELOAD names '%s' too, another copy of heapwake; only one of them records.",
                    preload.other);
    if (code == 0)
        code = launch_start(l, o->program, foreign ? nothing : preload.more, &err);
    preload_release(&preload);
    if ((code == ERR_SYSTEM || code == ERR_MEMORY) && l->pid == 0)
        return record_alone(o, l, &err);
    if (code != 0) {
        command_say("%s", err.text);
        return record_refused(l);
    }
    collector_run(c);
    collector_close(c);
    finish_collector(c, o->names, o->binaries, !o->quiet);
    /* Without memory it was perhaps not said. */
    bool is_said = c->output.is_off && c->sums.processes == 0 && !memory_has_failed();
    if (!is_said && (!o->quiet || c->sums.processes == 0)) {
        struct strbuf line;
        strbuf_init(&line);
        closing_build(&line, c, o->program[0]);
        if (!line.failed)
            command_say("%s", line.text);
        else if (c->sums.processes == 0)
            command_say("Nothing was recorded: there is too little memory.");
        else
            command_say("There is too little memory to say what was recorded.");
        strbuf_release(&line);
    }
    return EXIT_DONE;
}

int command_record(int argc, char **argv)
{
    struct record_options o = {0};
    struct logging log;
    struct err err;
    struct launch l;
    struct live_report reports = {0};
    struct output_keeping keeping;
    static struct collector c;
    (void)argc;
    record_take_environment(&o);
    int status = record_parse(&o, argv);
    if (status != EXIT_DONE)
        return status;
    err_init(&err);
    logging_open(&log, getenv("HEAPWAKE_LOG"), getenv("HEAPWAKE_LOGFILE"), STDERR_FILENO);
    settings_check(&log);
    keeping_read(&keeping, record_get, NULL);
    if (diagnose_is_sanitized(o.program[0], &err)) {
        command_say("%s", err.text);
        return EXIT_FAILED;
    }
    struct collector_options options = {.output = o.output,
                                        .keeping = &keeping,
                                        .map_usage_ns = keeping_map_usage(record_get, NULL),
                                        .children = o.children,
                                        .say = logging_say,
                                        .say_of = &log,
                                        .is_traced = log.level == LEVEL_TRACE,
                                        .report = live_report_write,
                                        .report_of = &reports};
    if (launch_prepare(&l, &err) != 0 || collector_open(&c, &options, &l, &err) != 0)
        return record_alone(&o, &l, &err);
    status = record_run(&o, &c, &l);
    live_report_release(&reports);
    collector_release(&c);
    launch_release(&l);
    logging_close(&log);
    if (status != EXIT_DONE)
        return status;
    launch_exit_like(&l);
}

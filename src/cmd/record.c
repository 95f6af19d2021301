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
    if ((code == ERR_SYSTEM || code == ERR_MEMORY) && l->pid == 0) {
        logging_close(c->options.say_of);
        listener_close(&c->listener);
        return record_alone(o, l, &err);
    }
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
            command_say("Nothing was recorded: out of memory.");
        else
            command_say(ERR_NO_MEMORY);
        strbuf_release(&line);
    }
    return EXIT_DONE;
}

static int record_main(const struct command *self, int argc, char **argv)
{
    struct record_options o = {0};
    struct logging log;
    struct err err;
    struct launch l;
    struct live_report reports = {0};
    struct output_keeping keeping;
    static struct collector c;
    int end;
    err_init(&err);
    record_take_environment(&o);
    if (options_parse(self, &o, argc, argv, &end, &err) != 0)
        return command_misused("%s", err.text);
    o.program = argv + end;
    if (o.program[0] == NULL)
        return command_misused("No program given: heapwake record %s", self->usage);
    logging_open(&log, getenv("HEAPWAKE_LOG"), getenv("HEAPWAKE_LOGFILE"), STDERR_FILENO);
    log.program = o.program[0];
    settings_check(&log);
    keeping_read(&keeping, record_get, NULL);
    if (diagnose_is_sanitized(o.program[0], &err)) {
        command_say("%s", err.text);
        logging_close(&log);
        return EXIT_FAILED;
    }
    struct collector_options options = {.output = o.output,
                                        .keeping = &keeping,
                                        .map_usage_ns = keeping_map_usage(record_get, NULL),
                                        .children = o.children,
                                        .say = logging_say,
                                        .say_of = &log,
                                        .met = logging_meet,
                                        .wants_traces = logging_wants_traces(),
                                        .is_traced = log.level == LEVEL_TRACE,
                                        .report = live_report_write,
                                        .report_of = &reports};
    if (launch_prepare(&l, &err) != 0 || collector_open(&c, &options, &l, &err) != 0) {
        logging_close(&log);
        return record_alone(&o, &l, &err);
    }
    int status = record_run(&o, &c, &l);
    live_report_release(&reports);
    collector_release(&c);
    launch_release(&l);
    logging_close(&log);
    if (status != EXIT_DONE)
        return status;
    launch_exit_like(&l);
}

#define RECORD(member) offsetof(struct record_options, member)

static const struct option record_options[] = {
    {.names = "-o, --output",
     .argument = "FILE",
     .help = "name of the recording (default %e.%p.wake); %e program, %p process id, %t seconds since 1970, "
             "%n a free "
             "number, %h host, %j batch job, %r MPI rank, %% a percent sign.  Without %p, %n and %r one file "
             "holds the "
             "whole process tree.",
     .set = options_set_text,
     .at = RECORD(output)},
    {.names = "--children",
     .argument = "yes|no",
     .help = "record the program's children too (default yes)",
     .set = options_set_answer,
     .at = RECORD(children)},
    {.names = "--symbols",
     .argument = "yes|no",
     .help = "look up names of functions at the end and put them into the file (default yes; Ctrl-C stops "
             "the search)",
     .set = options_set_answer,
     .at = RECORD(names)},
    {.names = "--embed-binaries",
     .help = "put the program and its libraries into the file too",
     .set = options_set_flag,
     .at = RECORD(binaries)},
    {.names = "-q, --quiet", .help = "no closing line", .set = options_set_flag, .at = RECORD(quiet)},
    {.names = "--log",
     .argument = "trace|debug|info|warn|error",
     .help = "what is said meanwhile (default warn; HEAPWAKE_LOG)",
     .set = settings_set},
    {.names = "--logfile",
     .argument = "FILE",
     .help = "where to, instead of standard error (HEAPWAKE_LOGFILE)",
     .set = settings_set},
    {.help = "What is recorded; each has a variable, which is also heard with LD_PRELOAD alone:"},
    {.names = "--enabled",
     .argument = "yes|no",
     .help = "no: begin switched off, see 'heapwake help ctl' (HEAPWAKE_ENABLED=0)",
     .set = settings_set},
    {.names = "--depth",
     .argument = "N",
     .help = "at most N frames of each stack, from both ends (HEAPWAKE_DEPTH)",
     .set = settings_set},
    {.names = "--mmap",
     .argument = "yes|no",
     .help = "mappings too (default yes; HEAPWAKE_MMAP)",
     .set = settings_set},
    {.names = "--map-usage",
     .argument = "[=MS]",
     .help = "sample which parts of memory are used, each second or every MS ms, and at each tag and report; "
             "holds up the "
             "program's mmap for as long as the kernel takes to list them (HEAPWAKE_MAP_USAGE)",
     .set = settings_set},
    {.names = "--free-stacks",
     .help = "a stack with each free (HEAPWAKE_FREE_STACKS=1)",
     .set = settings_set},
    {.names = "--precise-timestamps",
     .help = "a time of its own for each event (HEAPWAKE_PRECISE_TIMESTAMPS=1)",
     .set = settings_set},
    {.names = "--zero-memory",
     .help = "the program gets memory that is all zero (HEAPWAKE_ZERO_MEMORY=1)",
     .set = settings_set},
    {.names = "--pool",
     .argument = "SIZE",
     .help = "buffers between program and recorder (default 32M; HEAPWAKE_POOL)",
     .set = settings_set},
    {.names = "--sigusr1",
     .argument = "toggle|report|tag",
     .help = "what the signal does (default: it is the program's; HEAPWAKE_SIGUSR1)",
     .set = settings_set},
    {.names = "--sigusr2",
     .argument = "toggle|report|tag",
     .help = "the same for SIGUSR2 (HEAPWAKE_SIGUSR2)",
     .set = settings_set},
    {.help = "For long runs; each has a variable too:"},
    {.names = "--cull",
     .help = "leave blocks that live shorter than --cull-ms out of the events; totals stay exact "
             "(HEAPWAKE_CULL=1)",
     .set = settings_set},
    {.names = "--cull-ms",
     .argument = "MS",
     .help = "that threshold (default 10000; HEAPWAKE_CULL_MS)",
     .set = settings_set},
    {.names = "--cull-pending",
     .argument = "N",
     .help = "events that may wait for it (default 1048576, 64 bytes each; HEAPWAKE_CULL_PENDING)",
     .set = settings_set},
    {.names = "--sample",
     .argument = "SIZE",
     .help = "record one block in so many bytes (512K); figures become estimates (HEAPWAKE_SAMPLE)",
     .set = settings_set},
    {.names = "--rotate",
     .argument = "SIZE|DURATION",
     .help = "go on in another file (FILE.1, FILE.2, ...) from 1G or after 10min on; 'heapwake report "
             "FILE.*' takes them "
             "together (HEAPWAKE_ROTATE)",
     .set = settings_set},
    {.names = "--max-size",
     .argument = "SIZE",
     .help = "no more events once the file has this size; totals go on (HEAPWAKE_MAX_SIZE)",
     .set = settings_set},
    {0},
};

const struct command command_record = {
    .name = "record",
    .summary = "run a program and record its heap",
    .usage = "[OPTION...] [--] PROGRAM [ARGUMENT...]",
    .options = record_options,
    .notes = "The exit status is the program's own.",
    .operands = OPERANDS_PROGRAM,
    .run = record_main,
};

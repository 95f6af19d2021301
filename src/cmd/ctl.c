/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ctl: tells the collector of a running process what to do (wire/control.h).
 */
#include "cmd/command.h"
#include "collect/caller.h"
#include "present/safe.h"
#include "present/units.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CTL_ACT_MS = 120000 };

static const struct {
    const char *name;
    enum control_op op;
    bool needs_text, takes_text;
} ctl_commands[] = {
    {"enable", CONTROL_ENABLE, false, false}, {"disable", CONTROL_DISABLE, false, false},
    {"toggle", CONTROL_TOGGLE, false, false}, {"tag", CONTROL_TAG, true, true},
    {"report", CONTROL_REPORT, false, true},  {"status", CONTROL_STATUS, false, false},
    {"stop", CONTROL_STOP, false, false},
};

enum { CTL_COMMANDS = sizeof ctl_commands / sizeof *ctl_commands };

static int ctl_missing(uint32_t pid, enum caller_finding finding)
{
    switch (finding) {
    case CALLER_NO_PROCESS:
        command_say("There is no process %u.", pid);
        break;
    case CALLER_REFUSED:
        command_say("Process %u is recorded for another user; only that user and root may control it.", pid);
        break;
    case CALLER_SPOOL:
        command_say("Process %u has no collector that could be told: it writes a spool by itself.", pid);
        break;
    case CALLER_SILENT:
        command_say("No collector says that it records process %u, but not all of them answer.", pid);
        break;
    default:
        command_say("Process %u is not being recorded by heapwake.", pid);
        break;
    }
    return EXIT_FAILED;
}

/* Relative to the folder of whoever asks. */
static bool ctl_set_path(struct control_request *r, const char *path)
{
    char folder[PATH_MAX];
    int length;
    if (path[0] == '/')
        length = snprintf(r->text, sizeof r->text, "%s", path);
    else if (getcwd(folder, sizeof folder) == NULL)
        return false;
    else
        length = snprintf(r->text, sizeof r->text, "%s/%s", folder, path);
    return length > 0 && (size_t)length < sizeof r->text;
}

static int ctl_number(const char *text, uint32_t max, uint32_t *value)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number == 0 || number > max)
        return EXIT_USAGE;
    *value = (uint32_t)number;
    return EXIT_DONE;
}

/* PID COMMAND [TEXT] */
struct ctl_options {
    const char *words[3];
    size_t count;
    uint32_t depth; /* 0: not given */
};

static int ctl_set_depth(void *to, const struct option *o, const char *value, struct err *err)
{
    (void)o;
    if (ctl_number(value, 1024, to) == EXIT_DONE)
        return 0;
    return err_set(err, ERR_USAGE, "--depth takes a number from 1 to 1024, not '%s'.", value);
}

static int ctl_misused(struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "Usage: heapwake ctl PID enable|disable|toggle|tag NAME|report [FILE]|status|stop");
}

static int ctl_take(void *options, char *word, struct err *err)
{
    struct ctl_options *o = options;
    if (o->count == sizeof o->words / sizeof *o->words)
        return ctl_misused(err);
    o->words[o->count++] = word;
    return 0;
}

static void ctl_add_words(struct strbuf *text, char **words, size_t count)
{
    (void)words;
    for (size_t i = 0; count == 1 && i < CTL_COMMANDS; i++)
        strbuf_addf(text, "%s\n", ctl_commands[i].name);
    if (count == 2)
        strbuf_add_text(text, ":files\n");
}

/* What is asked of the collector. */
static int ctl_request(struct control_request *r, const struct ctl_options *o, struct err *err)
{
    const char *text = o->count == 3 ? o->words[2] : NULL;
    if (o->count < 2)
        return ctl_misused(err);
    if (ctl_number(o->words[0], INT_MAX, &r->pid) != EXIT_DONE)
        return err_set(err, ERR_USAGE, "'%s' is no process id.", o->words[0]);
    size_t k = 0;
    while (k < CTL_COMMANDS && strcmp(o->words[1], ctl_commands[k].name) != 0)
        k++;
    if (k == CTL_COMMANDS)
        return err_set(err, ERR_USAGE, "'heapwake ctl' has no command '%s'; 'heapwake help ctl' lists them.",
                       o->words[1]);
    r->op = ctl_commands[k].op;
    r->depth = o->depth;
    if ((text != NULL && (!ctl_commands[k].takes_text || text[0] == '\0')) ||
        (text == NULL && ctl_commands[k].needs_text) || (r->depth != 0 && r->op != CONTROL_REPORT))
        return ctl_misused(err);
    bool fits = true;
    if (text != NULL && r->op == CONTROL_REPORT)
        fits = ctl_set_path(r, text);
    else if (text != NULL)
        fits = (size_t)snprintf(r->text, sizeof r->text, "%s", text) <= 255;
    return fits ? 0 : err_set(err, ERR_USAGE, "'%.100s...' is too long.", text);
}

/* " 20,123 allocations and 5 frees so far; 3.4 MiB in 812 blocks live, 4.0 MiB at the peak." */
static void ctl_add_figures(struct strbuf *out, const struct control_figures *f)
{
    char a[UNITS_MAX], b[UNITS_MAX];
    strbuf_addf(out, " %s allocation%s and %s free%s so far; ", units_count(a, f->allocations),
                units_plural(f->allocations), units_count(b, f->frees), units_plural(f->frees));
    strbuf_addf(out, "%s in %s block%s live, ", units_bytes(a, f->live_bytes), units_count(b, f->live_blocks),
                units_plural(f->live_blocks));
    strbuf_addf(out, "%s at the peak.", units_bytes(a, f->peak_bytes));
}

static int ctl_run(const struct command *self, int argc, char **argv)
{
    static struct control_request request;
    static struct control_answer answer;
    struct caller_partner collector;
    request = (struct control_request){.magic = CONTROL_MAGIC, .version = CONTROL_VERSION};
    struct ctl_options o = {0};
    struct err err;
    err_init(&err);
    if (options_parse(self, &o, argc, argv, NULL, &err) != 0 || ctl_request(&request, &o, &err) != 0)
        return command_misused("%s", err.text);
    enum caller_finding finding = caller_find(request.pid, &collector);
    if (finding != CALLER_FOUND)
        return ctl_missing(request.pid, finding);
    if (!caller_ask(&collector, &request, CTL_ACT_MS, &answer)) {
        command_say("The collector of process %u does not answer.", request.pid);
        return EXIT_FAILED;
    }
    if (answer.code != CONTROL_DONE) {
        command_say("%s", answer.text[0] == '\0' ? "The process has ended." : answer.text);
        return EXIT_FAILED;
    }
    struct strbuf out;
    strbuf_init(&out);
    safe_add(&out, answer.text, strlen(answer.text));
    if (answer.figures.are_there != 0)
        ctl_add_figures(&out, &answer.figures);
    strbuf_add_text(&out, "\n");
    int status = command_print(&out) ? EXIT_DONE : EXIT_FAILED;
    strbuf_release(&out);
    return status;
}

static const struct option ctl_options[] = {
    {.names = "--depth",
     .argument = "N",
     .help = "with report: show and tell apart only the N innermost frames",
     .set = ctl_set_depth,
     .at = offsetof(struct ctl_options, depth)},
    {0},
};

const struct command command_ctl = {
    .name = "ctl",
    .summary = "switch, tag and report on a program while it is recorded",
    .usage = "PID COMMAND",
    .about =
        "  enable, disable, toggle  recording on and off; blocks freed while it is off are known to be "
        "freed\n"
        "  tag NAME                 name this moment: report --at NAME, --since NAME, --until NAME\n"
        "  report [FILE]            write what has changed since the last report, bytes by stack; as "
        "PROGRAM-PID-SEQUENCE.memlog and .json beside the recording, or to FILE (JSON if it ends in .json)\n"
        "  status                   what is recorded, where to, how much so far\n"
        "  stop                     end the recording; the program runs on",
    .options = ctl_options,
    .notes = "Acts at once, also when the program is idle.  Only the user who records, and root, may.",
    .operands = OPERANDS_WORDS,
    .run = ctl_run,
    .take = ctl_take,
    .add_words = ctl_add_words,
};

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * command: what a command is, the list of all, and how they print.
 *
 * Exit codes: 0 done, 1 failed, 2 used wrongly; `record` passes on the
 * program's own.  A command prints its result on standard output through
 * command_print and says what is wrong in one sentence on standard error.
 */
#ifndef HW_CMD_COMMAND_H
#define HW_CMD_COMMAND_H

#include "cmd/options.h"
#include "tool/err.h"
#include "tool/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* What stands behind the options. */
enum command_operands {
    OPERANDS_RECORDINGS,
    OPERANDS_FILES,
    OPERANDS_WORDS,                /* the command completes them itself */
    OPERANDS_RECORDING_OR_PROGRAM, /* a recording, or -- and a program with its arguments */
    OPERANDS_PROGRAM,              /* the first one ends the options */
};

struct command {
    const char *name;
    const char *summary; /* one line */
    const char *usage;   /* what stands behind "heapwake NAME", a line each */
    const char *about;   /* paragraphs in front of the options; NULL: none */
    const struct option *options;
    const char *notes; /* paragraphs behind them; NULL: none */
    enum command_operands operands;
    bool is_internal; /* for no person; left out of the list */
    /* The exit code.  argv[0] is the command's name. */
    int (*run)(const struct command *self, int argc, char **argv);
    /* Takes an operand.  May be NULL where nothing or a program follows. */
    int (*take)(void *options, char *word, struct err *err);
    /* Adds the words that may be operand number `count`, a line each; words: the operands before it. */
    void (*add_words)(struct strbuf *text, char **words, size_t count);
};

/* All commands, in the order of the list: a line here and a file that defines command_NAME is a command. */
#define COMMANDS(C) \
    C(record)       \
    C(ctl)          \
    C(info)         \
    C(report)       \
    C(diff)         \
    C(check)        \
    C(history)      \
    C(dump)         \
    C(verify)       \
    C(strip)        \
    C(export)       \
    C(import)       \
    C(symbolize)    \
    C(extract)      \
    C(replay)       \
    C(anonymize)    \
    C(merge)        \
    C(help)         \
    C(version)      \
    C(complete)     \
    C(collect)

#define COMMAND_DECLARE(name) extern const struct command command_##name;
COMMANDS(COMMAND_DECLARE)

extern const struct command *const command_list[]; /* ends with NULL */

/* NULL: no such command. */
const struct command *command_find(const char *name);
/* "heapwake: SENTENCE" on standard error; what is foreign in it is made safe. */
void command_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* command_say, and the code for it. */
int command_misused(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The one recording that a command takes, into *file. */
int command_take_recording(const struct command *c, const char **file, char *word, struct err *err);
/* ERR_USAGE: there is none. */
int command_needs_recording(const struct command *c, const char *file, struct err *err);

/* What is about to be written would take the place of what is read from: a sentence about it, with its code.
 * NULL: it has no name yet. */
int command_spare(const char *input, const char *output, struct err *err);
/* A file that gets too large (ulimit -f) is an error from now on, not our death.  Not for those who run a program of
 * the user's, which would inherit it. */
void command_bear_limits(void);

/* Writes and empties the buffer.  False: standard output takes no more (said once, unless the pipe is closed). */
bool command_print(struct strbuf *text);

#endif

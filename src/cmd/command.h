/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * command: what main.c's table is made of, and how commands speak.
 *
 * Exit codes: 0 done, 1 failed, 2 used wrongly; `record` passes on the
 * program's own.  A command prints its result on standard output through
 * command_print and says what is wrong in one sentence on standard error.
 */
#ifndef HW_CMD_COMMAND_H
#define HW_CMD_COMMAND_H

#include "tool/err.h"
#include "tool/strbuf.h"

#include <stdbool.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name */
    const char *summary;               /* one line */
    const char *help;                  /* usage and options, whole lines */
    bool internal;                     /* left out of the list */
};

extern const struct command command_list[];

int command_record(int argc, char **argv);
int command_collect(int argc, char **argv);
int command_ctl(int argc, char **argv);
int command_info(int argc, char **argv);
int command_report(int argc, char **argv);
int command_check(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_history(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_verify(int argc, char **argv);
int command_symbolize(int argc, char **argv);
int command_export(int argc, char **argv);
int command_import(int argc, char **argv);
int command_extract(int argc, char **argv);
int command_strip(int argc, char **argv);
int command_anonymize(int argc, char **argv);
int command_merge(int argc, char **argv);
int command_replay(int argc, char **argv);
int command_help(int argc, char **argv);
int command_version(int argc, char **argv);

/* NULL: no such command. */
const struct command *command_find(const char *name);
/* Returns the exit code. */
int command_print_help(const struct command *c);

/* "heapwake: SENTENCE" on standard error; what is foreign in it is made safe. */
void command_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* command_say, and the code for it. */
int command_misused(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What is about to be written would take the place of what is read from: a sentence about it, with its code.
 * NULL: it has no name yet. */
int command_spare(const char *input, const char *output, struct err *err);
/* A file that gets too large (ulimit -f) is an error from now on, not our death.  Not for those who run a program of
 * the user's, which would inherit it. */
void command_bear_limits(void);

/* Writes and empties the buffer.  False: standard output takes no more (said once, unless the pipe is closed). */
bool command_print(struct strbuf *text);

/* Is argv[*at] this option?  With a value ("--name value" or "--name=value"), *value gets it and *at
 * moves on; a missing value is "". */
bool command_option(char **argv, int *at, const char *name, const char **value);

#endif

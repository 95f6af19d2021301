/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * options: the options of a command as one table.  Parsing, --help, guesses at misspelled options
 * and completion in shells all read it.
 *
 *     static const struct option info_options[] = {
 *         {.names = "--json", .help = "print JSON", .set = options_set_flag, .at = offsetof(struct info, as_json)},
 *         {0},
 *     };
 *
 * An entry without names is a paragraph of the help, printed between the options around it.
 */
#ifndef HW_CMD_OPTIONS_H
#define HW_CMD_OPTIONS_H

#include "tool/err.h"
#include "tool/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct option;

struct options_count {
    uint64_t value;
    bool is_given;
};

/* Stores a value.  to: `at` bytes into the structure that options_parse() was given.
 * value: never empty; NULL for an option without an argument, or whose argument was left out. */
typedef int option_set(void *to, const struct option *o, const char *value, struct err *err);

struct option {
    const char *names;    /* "-o, --output"; NULL: help is a paragraph */
    const char *argument; /* "FILE"; "yes|no": one of these words; "[=MS]": may be left out; NULL: none */
    const char *help;     /* one sentence or more, without line breaks */
    option_set *set;
    size_t at;
    bool is_list; /* may be given several times; all others with an argument once */
    /* Argument that cannot be listed here: adds the words it may be, a line each. */
    void (*add_words)(struct strbuf *words);
    const struct option *shared; /* not an option, but a table that several commands share, at `at` */
};

/* bool, true */
int options_set_flag(void *to, const struct option *o, const char *value, struct err *err);
/* bool, false */
int options_clear_flag(void *to, const struct option *o, const char *value, struct err *err);
/* bool, of "yes|no" */
int options_set_answer(void *to, const struct option *o, const char *value, struct err *err);
/* const char * */
int options_set_text(void *to, const struct option *o, const char *value, struct err *err);
/* VEC(const char *) */
int options_add_text(void *to, const struct option *o, const char *value, struct err *err);
/* struct options_count, decimal digits */
int options_set_count(void *to, const struct option *o, const char *value, struct err *err);
/* unsigned: the index among the words of the argument */
int options_set_choice(void *to, const struct option *o, const char *value, struct err *err);

/* Reads the arguments behind the command's name.  *end, unless NULL: the first word of a program, where the command
 * runs one, else argc.  ERR_USAGE with a sentence. */
int options_parse(const struct command *c, void *to, int argc, char **argv, int *end, struct err *err);

/* Calls back for every option of the table, those that are shared too.  Stops at the first that is not false. */
bool options_visit(const struct option *table, bool (*visit)(void *of, const struct option *o), void *of);
/* The next name at *names ("-o", "--output"), which moves behind it.  False: there is no other. */
bool options_next_name(const char **names, char *name, size_t size);
/* The long name, for sentences; the short one where it has no other. */
const char *options_get_name(const struct option *o);
/* Does this argument list its words? */
bool options_is_choice(const struct option *o);

/* Usage, options and notes, as `--help` prints them. */
void options_help(struct strbuf *text, const struct command *c);

#endif

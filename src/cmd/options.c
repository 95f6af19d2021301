/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * options: reads a command line by the command's table.
 *
 *     --name VALUE   --name=VALUE   -n VALUE   --flag   --name[=VALUE]
 *
 * "--" ends the options.  Of a command that runs a program, the first operand (or "--") ends them too.
 */
#include "cmd/options.h"

#include "cmd/command.h"
#include "cmd/guess.h"
#include "engine/quantity.h"
#include "tool/vec.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { OPTIONS_NAME = 40 };

/* ---------------------------------------------------------------------- tables */

bool options_visit(const struct option *table, bool (*visit)(void *of, const struct option *o), void *of)
{
    for (; table != NULL && (table->names != NULL || table->help != NULL || table->shared != NULL); table++) {
        bool stops = table->shared != NULL ? options_visit(table->shared, visit, of) : visit(of, table);
        if (stops)
            return true;
    }
    return false;
}

bool options_next_name(const char **names, char *name, size_t size)
{
    *names += strspn(*names, ", ");
    size_t length = strcspn(*names, ",");
    if (length == 0 || length >= size)
        return false;
    memcpy(name, *names, length);
    name[length] = '\0';
    *names += length;
    return true;
}

bool options_is_choice(const struct option *o)
{
    return o->argument != NULL && strchr(o->argument, '|') != NULL && islower((unsigned char)o->argument[0]);
}

const char *options_get_name(const struct option *o)
{
    const char *name = strstr(o->names, "--");
    return name != NULL ? name : o->names;
}

/* --------------------------------------------------------------------- setters */

int options_set_flag(void *to, const struct option *o, const char *value, struct err *err)
{
    (void)o;
    (void)value;
    (void)err;
    *(bool *)to = true;
    return 0;
}

int options_clear_flag(void *to, const struct option *o, const char *value, struct err *err)
{
    (void)o;
    (void)value;
    (void)err;
    *(bool *)to = false;
    return 0;
}

int options_set_text(void *to, const struct option *o, const char *value, struct err *err)
{
    (void)o;
    (void)err;
    *(const char **)to = value;
    return 0;
}

int options_add_text(void *to, const struct option *o, const char *value, struct err *err)
{
    VEC(const char *) *list = to;
    (void)o;
    return vec_push(list, value) ? 0 : err_no_memory(err);
}

int options_set_count(void *to, const struct option *o, const char *value, struct err *err)
{
    struct options_count *count = to;
    count->is_given = true;
    if (quantity_count(value, &count->value))
        return 0;
    return err_set(err, ERR_USAGE, "%s takes a number, not '%s'.", options_get_name(o), value);
}

/* "a|b|c" as "a, b or c" */
static void options_list_words(char *text, size_t size, const char *words)
{
    size_t length = 0;
    for (const char *at = words; *at != '\0' && length + 1 < size;) {
        size_t word = strcspn(at, "|");
        bool is_last = at[word] != '\0' && strchr(at + word + 1, '|') == NULL;
        int added = snprintf(text + length, size - length, "%.*s%s", (int)word, at,
                             at[word] == '\0' ? ""
                             : is_last        ? " or "
                                              : ", ");
        length += (size_t)added;
        at += word + (at[word] == '|');
    }
}

int options_set_choice(void *to, const struct option *o, const char *value, struct err *err)
{
    char words[160] = "";
    unsigned index = 0;
    for (const char *at = o->argument; *at != '\0'; index++) {
        size_t length = strcspn(at, "|");
        if (strlen(value) == length && memcmp(at, value, length) == 0) {
            *(unsigned *)to = index;
            return 0;
        }
        at += length + (at[length] == '|');
    }
    options_list_words(words, sizeof words, o->argument);
    return err_set(err, ERR_USAGE, "%s takes %s, not '%s'.", options_get_name(o), words, value);
}

int options_set_answer(void *to, const struct option *o, const char *value, struct err *err)
{
    unsigned index = 0;
    int code = options_set_choice(&index, o, value, err);
    if (code == 0)
        *(bool *)to = index == 0;
    return code;
}

/* --------------------------------------------------------------------- parsing */

/* Where the arguments are read. */
struct options_reader {
    const struct command *command;
    void *to;
    char **argv;
    int at;
    uint64_t given; /* bit n: the option number n of the table, shared ones counted on */
};

/* An option of the table that a word names. */
struct options_match {
    const struct option *option;
    unsigned number;
    size_t base;       /* of the shared table it is from */
    const char *value; /* behind '='; NULL: there is none */
};

static bool options_is_named(const struct option *o, const char *word, struct options_match *m)
{
    char name[OPTIONS_NAME];
    for (const char *names = o->names; names != NULL && options_next_name(&names, name, sizeof name);) {
        size_t length = strlen(name);
        bool is_long = strncmp(name, "--", 2) == 0;
        if (strncmp(word, name, length) != 0 || (word[length] != '\0' && !(is_long && word[length] == '=')))
            continue;
        if (word[length] == '=' && o->argument == NULL)
            continue;
        m->option = o;
        m->value = word[length] == '=' ? word + length + 1 : NULL;
        return true;
    }
    return false;
}

static bool options_find(const struct option *table, size_t base, const char *word, struct options_match *m)
{
    for (; table->names != NULL || table->help != NULL || table->shared != NULL; table++, m->number++) {
        if (table->shared != NULL && options_find(table->shared, base + table->at, word, m))
            return true;
        if (options_is_named(table, word, m)) {
            m->base = base;
            return true;
        }
    }
    return false;
}

/* The argument of a matched option: behind '=', or the next word. */
static int options_take_value(struct options_reader *r, struct options_match *m, struct err *err)
{
    const struct option *o = m->option;
    if (m->value == NULL && o->argument[0] != '[')
        m->value = r->argv[r->at + 1] == NULL ? "" : r->argv[++r->at];
    if (m->value != NULL && m->value[0] == '\0')
        return err_set(err, ERR_USAGE, "%s needs a value; 'heapwake help %s' says which.",
                       options_get_name(o), r->command->name);
    uint64_t bit = UINT64_C(1) << m->number % 64;
    if (!o->is_list && (r->given & bit) != 0)
        return err_set(err, ERR_USAGE, "'%s' is given twice; it takes one value.", options_get_name(o));
    r->given |= bit;
    return 0;
}

static int options_take(struct options_reader *r, struct err *err)
{
    struct options_match m = {0};
    if (r->command->options == NULL || !options_find(r->command->options, 0, r->argv[r->at], &m))
        return guess_option(r->command, r->argv[r->at], err);
    int code = m.option->argument == NULL ? 0 : options_take_value(r, &m, err);
    return code == 0 ? m.option->set((char *)r->to + m.base + m.option->at, m.option, m.value, err) : code;
}

int options_parse(const struct command *c, void *to, int argc, char **argv, int *end, struct err *err)
{
    struct options_reader r = {.command = c, .to = to, .argv = argv};
    bool options_end = false;
    int code = 0;
    for (r.at = 1; r.at < argc && code == 0; r.at++) {
        const char *word = argv[r.at];
        bool is_option = !options_end && word[0] == '-' && word[1] != '\0';
        if (is_option && strcmp(word, "--") == 0) {
            options_end = true;
            if (c->operands >= OPERANDS_RECORDING_OR_PROGRAM) {
                r.at++;
                break;
            }
        } else if (is_option) {
            code = options_take(&r, err);
        } else if (c->operands == OPERANDS_PROGRAM) {
            break;
        } else {
            code = c->take(to, argv[r.at], err);
        }
    }
    if (end != NULL)
        *end = r.at;
    return code;
}

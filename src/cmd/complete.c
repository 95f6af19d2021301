/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * complete: what shells offer when Tab is pressed; the scripts in completions/ ask it.
 *
 *     heapwake complete WORD...      the words behind "heapwake", the last being the one that is typed
 *
 * Prints a candidate a line, with a tab and a sentence behind it where there is one, or a directive:
 *
 *     :files   :folders   :recordings   :program N     word number N, from 0, begins another command
 */
#include "cmd/command.h"

#include <string.h>

enum { COMPLETE_NAME = 40 };

struct complete {
    struct strbuf out;
    const char *current; /* the word that is typed */
    const char *word;    /* an option that is looked for */
    const struct option *found;
    char *operands[8];
    size_t operand_count;
};

/* ------------------------------------------------------------------ candidates */

static bool complete_add_names(void *of, const struct option *o)
{
    struct complete *c = of;
    char name[COMPLETE_NAME];
    for (const char *names = o->names; names != NULL && options_next_name(&names, name, sizeof name);)
        strbuf_addf(&c->out, "%s\t%s\n", name, o->help);
    return false;
}

static bool complete_has_word(const char *words, const char *word)
{
    for (const char *at = words; *at != '\0';) {
        size_t length = strcspn(at, " ");
        if (length == strlen(word) && memcmp(at, word, length) == 0)
            return true;
        at += length + strspn(at + length, " ");
    }
    return false;
}

/* What may be the argument of an option. */
static void complete_argument(struct complete *c, const struct option *o)
{
    if (o->add_words != NULL) {
        o->add_words(&c->out);
    } else if (options_is_choice(o)) {
        for (const char *at = o->argument; *at != '\0';) {
            size_t length = strcspn(at, "|");
            strbuf_addf(&c->out, "%.*s\n", (int)length, at);
            at += length + (at[length] == '|');
        }
    } else if (complete_has_word("FILE OUT NEW BASE", o->argument) || strncmp(o->argument, "BASE ", 5) == 0) {
        strbuf_add_text(&c->out, ":files\n");
    } else if (complete_has_word("DIR A:B", o->argument)) {
        strbuf_add_text(&c->out, ":folders\n");
    }
}

static void complete_operand(struct complete *c, const struct command *command)
{
    if (command->add_words != NULL)
        command->add_words(&c->out, c->operands, c->operand_count);
    else if (command->operands == OPERANDS_FILES)
        strbuf_add_text(&c->out, ":files\n");
    else if (command->operands != OPERANDS_WORDS)
        strbuf_add_text(&c->out, ":recordings\n");
}

/* -------------------------------------------------------------------- the line */

static bool complete_is_option(void *of, const struct option *o)
{
    struct complete *c = of;
    char name[COMPLETE_NAME];
    for (const char *names = o->names; names != NULL && options_next_name(&names, name, sizeof name);) {
        if (strcmp(name, c->word) == 0)
            c->found = o;
    }
    return c->found != NULL;
}

/* Does this word take the next one as its argument? */
static const struct option *complete_find_taker(struct complete *c, const struct command *command,
                                                const char *word)
{
    c->word = word;
    c->found = NULL;
    (void)options_visit(command->options, complete_is_option, c);
    return c->found != NULL && c->found->argument != NULL && c->found->argument[0] != '[' ? c->found : NULL;
}

/* words[0] is the command, words[count - 1] the one that is typed. */
static void complete_line(struct complete *c, const struct command *command, char **words, int count)
{
    bool runs = command->operands >= OPERANDS_RECORDING_OR_PROGRAM;
    for (int i = 1; i < count; i++) {
        bool is_last = i == count - 1, is_option = words[i][0] == '-' && words[i][1] != '\0';
        const struct option *taker = is_option ? complete_find_taker(c, command, words[i]) : NULL;
        if (runs && strcmp(words[i], "--") == 0 && !is_last) {
            strbuf_addf(&c->out, ":program %d\n", i + 1);
            return;
        }
        if (taker != NULL && i + 1 == count - 1) {
            complete_argument(c, taker);
            return;
        }
        if (taker != NULL && !is_last) {
            i++;
        } else if (!is_last && !is_option && command->operands == OPERANDS_PROGRAM) {
            strbuf_addf(&c->out, ":program %d\n", i);
            return;
        } else if (!is_last && !is_option && c->operand_count < sizeof c->operands / sizeof *c->operands) {
            c->operands[c->operand_count++] = words[i];
        }
    }
    if (c->current[0] == '-') {
        (void)options_visit(command->options, complete_add_names, c);
        strbuf_addf(&c->out, "--help\tsay how it is used\n%s", runs ? "--\n" : "");
    } else if (command->operands == OPERANDS_PROGRAM) {
        strbuf_addf(&c->out, ":program %d\n", count - 1);
    } else {
        complete_operand(c, command);
    }
}

static void complete_commands(struct complete *c)
{
    command_help.add_words(&c->out, NULL, 0);
    strbuf_add_text(&c->out, "--help\tsay how it is used\n--version\tsay which version it is\n");
}

static int complete_run(const struct command *self, int argc, char **argv)
{
    struct complete c = {.current = argv[argc - 1]};
    (void)self;
    if (argc < 2)
        return EXIT_DONE;
    strbuf_init(&c.out);
    const struct command *command = command_find(argv[1]);
    if (argc == 2)
        complete_commands(&c);
    else if (command != NULL)
        complete_line(&c, command, argv + 1, argc - 1);
    bool done = command_print(&c.out);
    strbuf_release(&c.out);
    return done ? EXIT_DONE : EXIT_FAILED;
}

const struct command command_complete = {
    .name = "complete",
    .summary = "list what may come next, for shells",
    .usage = "WORD...",
    .operands = OPERANDS_WORDS,
    .is_internal = true,
    .run = complete_run,
};

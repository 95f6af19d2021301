/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * help: lists the commands, or explains one.
 */
#include "cmd/command.h"
#include "cmd/guess.h"
#include "cmd/help_page.h"
#include "engine/parse.h"

#include <string.h>

/* The words of --where. */
static void help_where(struct strbuf *text)
{
    struct query_key key;
    static const char *const notes[] = {[ABOUT_BLOCKS] = "", [ABOUT_MAPPINGS] = " +", [ABOUT_BOTH] = " *"};
    strbuf_add_text(
        text,
        "--where KEY=VALUE narrows what report, diff and export look at; it may be repeated, and all\n"
        "conditions must hold; a key that takes one value is given once.  Comparisons are conditions too: "
        "'size>100', 'lifetime<=1ms', 'function~^git', 'kind!=malloc', 'allocated>=10s' (in quotes, because "
        "of the "
        "shell): <, <=, > and >= where there is a -min and a -max below, <= and >= where there is a -from "
        "and a -to, "
        "~ and !~ for REGEX, != where there is a not- and for kind, state, mapped and arena.\n"
        "\n"
        "SIZE: 4096, 4K, 1.5MiB.  DURATION: "
        "250ms, 1.5s, 1h2m3s.  ADDRESS: hexadecimal, 0x5581f0 or 5581f0.  TIME: a\n"
        "duration since the start, a percentage of the run, a date (2026-11-15 23:40:05, behind which a Z\n"
        "means UTC), 'end', or the name of a mark; at, alive-at and alive-at-2 take 'peak-rss' too, when the "
        "resident set was largest.  Behind what report --maps takes for mappings as well\n"
        "stands *, behind what is about mappings alone +.\n\n");
    for (size_t i = 0; query_get_key(i, &key); i++) {
        if (!key.is_wish)
            strbuf_addf(text, "  %s=%s%s\n      %s\n", key.name, key.value, notes[key.about], key.help);
    }
}

static void help_list(struct strbuf *text)
{
    strbuf_add_text(text, "heapwake records every heap allocation of a program with its full call stack.\n\n"
                          "usage: heapwake COMMAND [OPTION...]\n\n");
    for (const struct command *const *c = command_list; *c != NULL; c++) {
        if (!(*c)->is_internal)
            strbuf_addf(text, "  %-10s%s\n", (*c)->name, (*c)->summary);
    }
    strbuf_add_text(text, "\n'heapwake help COMMAND' or 'heapwake COMMAND --help' says more.\n");
}

/* What help is asked for. */
struct help {
    const char *topic;
};

static int help_take(void *options, char *word, struct err *err)
{
    struct help *h = options;
    if (h->topic != NULL)
        return err_set(err, ERR_USAGE, "'heapwake help' takes one command.");
    h->topic = word;
    return 0;
}

static void help_add_words(struct strbuf *text, char **words, size_t count)
{
    (void)words;
    for (const struct command *const *c = command_list; count == 0 && *c != NULL; c++) {
        if (!(*c)->is_internal)
            strbuf_addf(text, "%s\t%s\n", (*c)->name, (*c)->summary);
    }
    if (count == 0)
        strbuf_add_text(text, "where\tthe keys of --where\n");
}

static int help_run(const struct command *self, int argc, char **argv)
{
    struct help h = {0};
    struct strbuf text;
    struct err err;
    err_init(&err);
    if (options_parse(self, &h, argc, argv, NULL, &err) != 0)
        return command_misused("%s", err.text);
    const struct command *c = h.topic == NULL ? NULL : command_find(h.topic);
    bool is_where = h.topic != NULL && strcmp(h.topic, "where") == 0;
    if (h.topic != NULL && c == NULL && !is_where)
        return guess_command(h.topic, NULL);
    strbuf_init(&text);
    if (c != NULL)
        options_help(&text, c);
    else if (is_where)
        help_where(&text);
    else
        help_list(&text);
    bool done = help_page_print(strbuf_get(&text));
    strbuf_release(&text);
    return done ? EXIT_DONE : EXIT_FAILED;
}

const struct command command_help = {
    .name = "help",
    .summary = "say how a command is used",
    .usage = "[COMMAND]",
    .operands = OPERANDS_WORDS,
    .run = help_run,
    .take = help_take,
    .add_words = help_add_words,
};

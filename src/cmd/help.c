/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * help: lists the commands, or explains one.
 */
#include "cmd/command.h"
#include "cmd/guess.h"
#include "cmd/help_page.h"
#include "query/parse.h"

#include <string.h>

/* The words of --where. */
static void help_where(struct strbuf *text)
{
    struct query_key key;
    static const char *const notes[] = {[ABOUT_BLOCKS] = "", [ABOUT_MAPPINGS] = " +", [ABOUT_BOTH] = " *"};
    strbuf_add_text(
        text,
        "--where KEY=VALUE narrows what report, diff and export look at; it may be repeated, and all\n"
        "conditions must hold; a key that takes one value is given once.  SIZE: 4096, 4K, 1.5MiB.  DURATION: "
        "250ms, 1.5s, 1h2m3s.  ADDRESS: hexadecimal, 0x5581f0 or 5581f0.  TIME: a\n"
        "duration since the start, a percentage of the run, a date (2026-11-15 23:40:05, behind which a Z\n"
        "means UTC), 'end', or the name of a mark.  Behind what report --maps takes for mappings as well\n"
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
    for (const struct command *c = command_list; c->name != NULL; c++) {
        if (!c->internal)
            strbuf_addf(text, "  %-10s%s\n", c->name, c->summary);
    }
    strbuf_add_text(text, "\n'heapwake help COMMAND' or 'heapwake COMMAND --help' says more.\n");
}

int command_help(int argc, char **argv)
{
    struct strbuf text;
    strbuf_init(&text);
    if (argc > 2)
        return command_misused("'heapwake help' takes one command.");
    if (argc == 2 && strcmp(argv[1], "where") == 0) {
        help_where(&text);
    } else if (argc == 2) {
        const struct command *c = command_find(argv[1]);
        if (c == NULL)
            return guess_command(argv[1], NULL);
        return command_print_help(c);
    } else {
        help_list(&text);
    }
    bool done = help_page_print(strbuf_get(&text));
    strbuf_release(&text);
    return done ? EXIT_DONE : EXIT_FAILED;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * help: lists the commands, or explains one.
 */
#include "cmd/command.h"

int command_help(int argc, char **argv)
{
    struct strbuf text;
    strbuf_init(&text);
    if (argc > 2)
        return command_misused("'heapwake help' takes one command.");
    if (argc == 2) {
        const struct command *c = command_find(argv[1]);
        if (c == NULL)
            return command_misused("There is no command '%s'; 'heapwake help' lists those there are.",
                                   argv[1]);
        command_print_help(c);
        return EXIT_DONE;
    }
    strbuf_add_text(&text, "heapwake records every heap allocation of a program with its full call stack.\n\n"
                           "usage: heapwake COMMAND [OPTION...]\n\n");
    for (const struct command *c = command_list; c->name != NULL; c++) {
        if (!c->internal)
            strbuf_addf(&text, "  %-10s%s\n", c->name, c->summary);
    }
    strbuf_add_text(&text, "\n'heapwake help COMMAND' or 'heapwake COMMAND --help' says more.\n");
    bool done = command_print(&text);
    strbuf_release(&text);
    return done ? EXIT_DONE : EXIT_FAILED;
}

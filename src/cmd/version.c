/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * version: prints it.
 */
#include "cmd/command.h"

#ifndef HEAPWAKE_VERSION
#define HEAPWAKE_VERSION "(unknown)"
#endif

static int version_take(void *options, char *word, struct err *err)
{
    (void)options;
    return err_set(err, ERR_USAGE, "'heapwake version' takes no '%s'.", word);
}

static int version_run(const struct command *self, int argc, char **argv)
{
    struct err err;
    struct strbuf text;
    err_init(&err);
    if (options_parse(self, NULL, argc, argv, NULL, &err) != 0)
        return command_misused("%s", err.text);
    strbuf_init(&text);
    strbuf_add_text(&text, "heapwake " HEAPWAKE_VERSION "\n");
    bool done = command_print(&text);
    strbuf_release(&text);
    return done ? EXIT_DONE : EXIT_FAILED;
}

const struct command command_version = {
    .name = "version",
    .summary = "print the version",
    .usage = "",
    .operands = OPERANDS_WORDS,
    .run = version_run,
    .take = version_take,
};

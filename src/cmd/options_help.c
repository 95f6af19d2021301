/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * options_help: a command's table as text:
 *
 *     heapwake info: say what a recording holds
 *
 *     usage: heapwake info [--json] FILE
 *
 *       --json                  print JSON
 *
 * help_page breaks the lines.
 */
#include "cmd/command.h"
#include "cmd/options.h"

#include <stdio.h>
#include <string.h>

enum { HELP_COLUMN = 26, HELP_NAMES = 120 };

static bool options_help_add(void *of, const struct option *o)
{
    struct strbuf *text = of;
    char left[HELP_NAMES];
    if (o->names == NULL) {
        strbuf_addf(text, "%s%s\n", text->length > 0 ? "\n" : "", o->help);
        return false;
    }
    const char *between = o->argument == NULL || o->argument[0] == '[' ? "" : " ";
    snprintf(left, sizeof left, "  %s%s%s", o->names, between, o->argument == NULL ? "" : o->argument);
    if (strlen(left) + 2 <= HELP_COLUMN)
        strbuf_addf(text, "%-*s%s\n", HELP_COLUMN, left, o->help);
    else
        strbuf_addf(text, "%s\n%*s%s\n", left, HELP_COLUMN, "", o->help);
    return false;
}

void options_help(struct strbuf *text, const struct command *c)
{
    struct strbuf options;
    strbuf_init(&options);
    strbuf_addf(text, "heapwake %s: %s\n\n", c->name, c->summary);
    for (const char *at = c->usage, *next; at != NULL; at = next) {
        size_t length = strcspn(at, "\n");
        strbuf_addf(text, "%s heapwake %s%s%.*s\n", at == c->usage ? "usage:" : "      ", c->name,
                    length > 0 ? " " : "", (int)length, at);
        next = at[length] == '\0' ? NULL : at + length + 1;
    }
    if (c->about != NULL)
        strbuf_addf(text, "\n%s\n", c->about);
    (void)options_visit(c->options, options_help_add, &options);
    if (options.length > 0)
        strbuf_addf(text, "\n%s", strbuf_get(&options));
    if (c->notes != NULL)
        strbuf_addf(text, "\n%s\n", c->notes);
    text->failed |= options.failed;
    strbuf_release(&options);
}

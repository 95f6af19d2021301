/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * version: prints it.
 */
#include "cmd/command.h"

#ifndef HEAPWAKE_VERSION
#define HEAPWAKE_VERSION "(unknown)"
#endif

int command_version(int argc, char **argv)
{
    if (argc > 1)
        return command_misused("'heapwake version' takes no '%s'.", argv[1]);
    struct strbuf text;
    strbuf_init(&text);
    strbuf_add_text(&text, "heapwake " HEAPWAKE_VERSION "\n");
    bool done = command_print(&text);
    strbuf_release(&text);
    return done ? EXIT_DONE : EXIT_FAILED;
}

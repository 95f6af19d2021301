/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * colour: see colour.h.
 */
#include "present/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const colour_codes[COLOUR_COUNT] = {
    [COLOUR_PLAIN] = NULL, [COLOUR_TITLE] = "1", [COLOUR_NAME] = "1",
    [COLOUR_PLACE] = "36", [COLOUR_QUIET] = "2", [COLOUR_ALARM] = "31",
};

bool colour_is_wanted(int fd)
{
    const char *refused = getenv("NO_COLOR"), *term = getenv("TERM");
    if (refused != NULL && refused[0] != '\0')
        return false;
    return isatty(fd) == 1 && term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
}

void colour_begin(struct strbuf *out, enum colour colour)
{
    if (colour_codes[colour] != NULL)
        strbuf_addf(out, "\033[%sm", colour_codes[colour]);
}

void colour_end(struct strbuf *out, enum colour colour)
{
    if (colour_codes[colour] != NULL)
        strbuf_add_text(out, "\033[0m");
}

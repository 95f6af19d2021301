/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * help_page: see help_page.h.
 */
#include "cmd/help_page.h"

#include "cmd/command.h"
#include "cmd/screen.h"
#include "present/page.h"

#include <string.h>

enum { HELP_PAGE_FURTHER = 8 }; /* columns: what begins so far in goes on with what was said */

struct help_line {
    const char *text; /* behind its spaces */
    size_t lead, length;
};

/* The line at *text, which moves behind it. */
static struct help_line help_page_take(const char **text)
{
    struct help_line line = {.lead = strspn(*text, " ")};
    line.text = *text + line.lead;
    line.length = strcspn(line.text, "\n");
    *text = line.text + line.length + (line.text[line.length] == '\n');
    return line;
}

/* How long the option at the beginning is, and how far behind it something is said of it; 0 = there is none. */
static size_t help_page_option(const struct help_line *line, size_t *gap)
{
    for (size_t i = 1; i + 1 < line->length && line->lead > 0; i++) {
        *gap = strspn(line->text + i, " ");
        if (*gap >= 2 && i + *gap < line->length)
            return i;
    }
    return *gap = 0;
}

static bool help_page_goes_on(const struct help_line *line, const struct help_line *next)
{
    if (next->length == 0 || line->length == 0)
        return false;
    if (next->lead >= HELP_PAGE_FURTHER &&
        next->lead >= line->lead + (line->lead < HELP_PAGE_FURTHER ? 4 : 0))
        return next->text[0] != '-';
    char last = line->text[line->length - 1];
    return line->lead == 0 && next->lead == 0 && last != '.' && last != ':';
}

/* An option that has a line for itself. */
static bool help_page_is_alone(const struct help_line *line, const char *ahead)
{
    struct help_line next = help_page_take(&ahead);
    return line->lead > 0 && line->text[0] == '-' && help_page_goes_on(line, &next);
}

/* Adds one thing that is said, in as many lines as it takes. */
static void help_page_add(struct page *page, const char **text)
{
    struct help_line line = help_page_take(text);
    size_t gap, option = help_page_option(&line, &gap);
    if (option == 0 && help_page_is_alone(&line, *text)) {
        page_addf(page, COLOUR_PLAIN, "%*s%.*s", (int)line.lead, "", (int)line.length, line.text);
        page_end_line(page);
        line = help_page_take(text);
    }
    struct help_line last = line;
    size_t begin = line.lead + option + gap, indent = begin;
    struct strbuf said;
    strbuf_init(&said);
    strbuf_add(&said, line.text + option + gap, line.length - option - gap);
    for (const char *ahead = *text; *ahead != '\0'; ahead = *text) {
        struct help_line next = help_page_take(&ahead);
        if (!help_page_goes_on(&last, &next))
            break;
        strbuf_add_text(&said, " ");
        strbuf_add(&said, next.text, next.length);
        indent = next.lead;
        *text = ahead;
        next.lead = line.lead;
        last = next;
    }
    page_addf(page, COLOUR_PLAIN, "%*s%.*s%*s", (int)line.lead, "", (int)option, line.text, (int)gap, "");
    page_add_wrapped(page, COLOUR_PLAIN, strbuf_get(&said), begin, indent);
    page_end_line(page);
    page->out->failed |= said.failed;
    strbuf_release(&said);
}

bool help_page_print(const char *text)
{
    struct strbuf out;
    struct page page;
    strbuf_init(&out);
    screen_init(&page, &out);
    while (*text != '\0')
        help_page_add(&page, &text);
    bool done = command_print(&out);
    strbuf_release(&out);
    return done;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * page: see page.h.
 */
#include "present/page.h"

#include "present/width.h"

#include <stdarg.h>
#include <string.h>

static void page_begin(struct page *p, enum colour colour)
{
    if (p->colour)
        colour_begin(p->out, colour);
}

static void page_end(struct page *p, enum colour colour)
{
    if (p->colour)
        colour_end(p->out, colour);
}

void page_add(struct page *p, enum colour colour, const char *text)
{
    page_begin(p, colour);
    strbuf_add_text(p->out, text);
    page_end(p, colour);
}

void page_addf(struct page *p, enum colour colour, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    page_begin(p, colour);
    strbuf_vaddf(p->out, format, args);
    page_end(p, colour);
    va_end(args);
}

void page_add_wrapped(struct page *p, enum colour colour, const char *text, size_t used, size_t indent)
{
    struct strbuf word;
    strbuf_init(&word);
    for (bool is_first = true; *text != '\0'; is_first = false) {
        size_t length = strcspn(text, " ");
        strbuf_clear(&word);
        strbuf_add(&word, text, length);
        size_t wide = width_of(strbuf_get(&word));
        if (!is_first && used + 1 + wide > p->width) {
            page_end_line(p);
            page_addf(p, COLOUR_PLAIN, "%*s", (int)indent, "");
            used = indent;
        } else if (!is_first) {
            page_add(p, colour, " ");
            used++;
        }
        page_add(p, colour, strbuf_get(&word));
        used += wide;
        text += length + strspn(text + length, " ");
    }
    p->out->failed |= word.failed;
    strbuf_release(&word);
}

size_t page_add_short(struct page *p, enum colour colour, const char *text, size_t columns)
{
    page_begin(p, colour);
    size_t used = width_add(p->out, text, columns, p->unicode);
    page_end(p, colour);
    return used;
}

void page_end_line(struct page *p)
{
    strbuf_add_char(p->out, '\n');
}

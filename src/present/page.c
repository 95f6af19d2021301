/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * page: see page.h.
 */
#include "present/page.h"

#include "present/width.h"

#include <stdarg.h>
#include <stdint.h>
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

static void page_wrap(struct page *p, size_t indent)
{
    page_end_line(p);
    page_addf(p, COLOUR_PLAIN, "%*s", (int)indent, "");
}

/* Of a path that does not fit, up to a slash: a name in two pieces is not known again.  So much of it that the line is
 * not nearly empty. */
static size_t page_break(const char *text, size_t fits)
{
    for (size_t n = fits; n > fits / 2; n--)
        if (text[n - 1] == '/')
            return n;
    return fits;
}

/* One word, in several lines where it is wider than they are; returns the column behind it. */
static size_t page_add_word(struct page *p, enum colour colour, const char *text, size_t length, size_t used,
                            size_t indent)
{
    struct strbuf piece;
    strbuf_init(&piece);
    while (length > 0) {
        size_t wide, n = width_fit(text, length, p->width > used ? p->width - used : 1, &wide);
        if (n == 0) { /* a wide character where one column is left */
            n = length;
            wide = 0;
        }
        if (n < length)
            n = page_break(text, n);
        strbuf_clear(&piece);
        strbuf_add(&piece, text, n);
        page_add(p, colour, strbuf_get(&piece));
        used += wide;
        text += n;
        length -= n;
        if (length > 0) {
            page_wrap(p, indent);
            used = indent;
        }
    }
    p->out->failed |= piece.failed;
    strbuf_release(&piece);
    return used;
}

/* Bytes of the next word; a figure goes with what it counts: "24.1 MiB". */
static size_t page_measure_word(const char *text)
{
    size_t length = strcspn(text, " "), figure = strspn(text, "0123456789.,+-");
    bool is_figure = length > 0 && figure == length && text[length] == ' ' && text[length + 1] != ' ';
    return is_figure ? length + 1 + strcspn(text + length + 1, " ") : length;
}

size_t page_add_wrapped(struct page *p, enum colour colour, const char *text, size_t used, size_t indent)
{
    for (size_t gap = 0; *text != '\0'; gap = strspn(text, " "), text += gap) {
        size_t length = page_measure_word(text), wide;
        (void)width_fit(text, length, SIZE_MAX, &wide);
        if (gap != 0 && used + gap + wide > p->width) {
            page_wrap(p, indent);
            used = indent;
        } else if (gap != 0) {
            page_addf(p, colour, "%*s", (int)gap, "");
            used += gap;
        }
        used = page_add_word(p, colour, text, length, used, indent);
        text += length;
    }
    return used;
}

size_t page_add_short(struct page *p, enum colour colour, const char *text, size_t columns)
{
    page_begin(p, colour);
    size_t used = width_add(p->out, text, columns, p->unicode);
    page_end(p, colour);
    return used;
}

size_t page_add_name(struct page *p, enum colour colour, const char *name, size_t columns)
{
    page_begin(p, colour);
    size_t used = width_add_name(p->out, name, columns, p->unicode);
    page_end(p, colour);
    return used;
}

size_t page_add_path(struct page *p, enum colour colour, const char *path, size_t columns)
{
    page_begin(p, colour);
    size_t used = width_add_path(p->out, path, columns, p->unicode);
    page_end(p, colour);
    return used;
}

void page_end_line(struct page *p)
{
    strbuf_add_char(p->out, '\n');
}

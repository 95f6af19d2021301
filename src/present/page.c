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

void page_add_labelled(struct page *p, enum colour colour, const char *label, size_t columns,
                       const char *format, ...)
{
    struct strbuf text;
    va_list args;
    strbuf_init(&text);
    va_start(args, format);
    strbuf_vaddf(&text, format, args);
    va_end(args);
    page_addf(p, colour, "%-*s", (int)columns, label);
    page_add_wrapped(p, COLOUR_PLAIN, strbuf_get(&text), columns, columns);
    page_end_line(p);
    p->out->failed |= text.failed;
    strbuf_release(&text);
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

/* ------------------------------------------------------------------ long lines */

enum { PAGE_HANG = 4 }; /* a line that goes on stands so much further right */

/* Bytes of a colour at the beginning; 0 = there is none. */
static size_t page_measure_colour(const char *text, size_t length)
{
    const char *end = length > 1 && memcmp(text, "\033[", 2) == 0 ? memchr(text, 'm', length) : NULL;
    return end == NULL ? 0 : (size_t)(end - text) + 1;
}

/* Bytes of a line that are in its first so many columns, with the colours behind them. */
static size_t page_measure_fit(const char *line, size_t length, size_t columns)
{
    size_t at = 0;
    while (at < length) {
        size_t skip = page_measure_colour(line + at, length - at), wide;
        at += skip;
        if (skip != 0)
            continue;
        const char *next = memchr(line + at, '\033', length - at);
        size_t part = next == NULL ? length - at : next == line + at ? 1 : (size_t)(next - line) - at;
        size_t fits = width_fit(line + at, part, columns, &wide);
        at += fits;
        columns -= wide;
        if (fits < part)
            break;
    }
    return at;
}

/* Where a line that does not fit is broken: behind its first words, or where the page ends. */
static size_t page_find_break(const char *line, size_t indent, size_t fits)
{
    size_t at = fits;
    while (at > indent && line[at] != ' ')
        at--;
    return at > indent ? at : fits;
}

static void page_fit_line(struct page *p, struct strbuf *out, const char *line, size_t length)
{
    size_t indent = strspn(line, " "), fits, columns = p->width;
    indent = indent < length ? indent : length;
    size_t hang = indent + PAGE_HANG < p->width / 2 ? indent + PAGE_HANG : PAGE_HANG;
    while ((fits = page_measure_fit(line, length, columns)) < length) {
        size_t at = page_find_break(line, indent, fits == 0 ? 1 : fits);
        size_t end = at;
        while (end > 0 && line[end - 1] == ' ')
            end--;
        strbuf_add(out, line, end);
        strbuf_addf(out, "\n%*s", (int)hang, "");
        for (line += at, length -= at; length > 0 && *line == ' '; length--)
            line++;
        columns = p->width - hang;
        indent = 0;
    }
    strbuf_add(out, line, length);
}

void page_fit(struct page *p)
{
    struct strbuf out;
    strbuf_init(&out);
    const char *text = strbuf_get(p->out);
    for (size_t left = p->out->length; left > 0;) {
        const char *end = memchr(text, '\n', left);
        size_t length = end == NULL ? left : (size_t)(end - text);
        page_fit_line(p, &out, text, length);
        left -= length;
        text += length;
        if (end != NULL) {
            strbuf_add_char(&out, '\n');
            left--;
            text++;
        }
    }
    bool failed = p->out->failed || out.failed;
    strbuf_release(p->out);
    *p->out = out;
    p->out->failed = failed;
}

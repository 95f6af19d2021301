/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * width: see width.h.
 */
#include "present/width.h"

#include "present/safe.h"

#include <string.h>

/* Characters of East Asian scripts and pictures take two columns, marks that
 * join the character before them none. */
static size_t width_of_point(unsigned point)
{
    static const unsigned wide[][2] = {
        {0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},   {0xf900, 0xfaff}, {0xfe30, 0xfe6f},
        {0xff00, 0xff60}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}, {0xffe0, 0xffe6},
    };
    if (point >= 0x300 && point <= 0x36f)
        return 0;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        if (point >= wide[i][0] && point <= wide[i][1])
            return 2;
    }
    return 1;
}

/* The bytes of the first character, and its columns. */
static size_t width_next(const char *text, size_t length, size_t *columns)
{
    unsigned point;
    size_t used = safe_decode(text, length, &point);
    *columns = used == 0 ? 1 : width_of_point(point);
    return used == 0 ? 1 : used;
}

size_t width_of(const char *text)
{
    size_t length = strlen(text), width = 0, columns;
    for (size_t at = 0; at < length; width += columns)
        at += width_next(text + at, length - at, &columns);
    return width;
}

size_t width_fit(const char *text, size_t length, size_t columns, size_t *used)
{
    size_t at = 0;
    *used = 0;
    while (at < length) {
        size_t more, n = width_next(text + at, length - at, &more);
        if (*used + more > columns)
            break;
        *used += more;
        at += n;
    }
    return at;
}

size_t width_add(struct strbuf *out, const char *text, size_t columns, bool unicode)
{
    size_t width = width_of(text), length = strlen(text), used;
    if (width <= columns) {
        strbuf_add(out, text, length);
        return width;
    }
    size_t mark = unicode ? 1 : 2;
    if (columns <= mark) {
        strbuf_add(out, text, width_fit(text, length, columns, &used));
        return used;
    }
    size_t head = (columns - mark) / 3, tail = columns - mark - head;
    strbuf_add(out, text, width_fit(text, length, head, &used));
    strbuf_add_text(out, unicode ? "…" : "..");
    size_t skip = width - tail, skipped;
    size_t at = width_fit(text, length, skip, &skipped);
    /* A wide character on the border stays out. */
    while (at < length && width - skipped > tail) {
        size_t more;
        at += width_next(text + at, length - at, &more);
        skipped += more;
    }
    strbuf_add(out, text + at, length - at);
    return used + mark + (width - skipped);
}

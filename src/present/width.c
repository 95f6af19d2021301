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

static size_t width_of_bytes(const char *text, size_t length)
{
    size_t width = 0, columns;
    for (size_t at = 0; at < length; width += columns)
        at += width_next(text + at, length - at, &columns);
    return width;
}

size_t width_of(const char *text)
{
    return width_of_bytes(text, strlen(text));
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

/* The column count and the spelling of what stands for what is left out. */
static size_t width_mark(bool unicode, const char **mark)
{
    *mark = unicode ? "…" : "..";
    return unicode ? 1 : 2;
}

size_t width_add(struct strbuf *out, const char *text, size_t columns, bool unicode)
{
    size_t width = width_of(text), length = strlen(text), used;
    if (width <= columns) {
        strbuf_add(out, text, length);
        return width;
    }
    const char *sign;
    size_t mark = width_mark(unicode, &sign);
    if (columns <= mark) {
        strbuf_add(out, text, width_fit(text, length, columns, &used));
        return used;
    }
    size_t head = (columns - mark) / 3, tail = columns - mark - head;
    strbuf_add(out, text, width_fit(text, length, head, &used));
    strbuf_add_text(out, sign);
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

/* Parts of names that tell nothing without what they are in: {{closure}}, operator(). */
static bool width_is_dependent(const char *part)
{
    return part[0] == '{' || strncmp(part, "operator", 8) == 0;
}

/* The next part of a name, behind "::" that no bracket encloses; NULL: this is the last.  What a conversion makes is
 * part of what it is called: "operator std::string". */
static const char *width_next_part(const char *name)
{
    size_t depth = 0;
    for (const char *at = name; *at != '\0'; at++) {
        bool begins = at == name || at[-1] == ':';
        if (depth == 0 && begins && strncmp(at, "operator ", 9) == 0)
            return NULL;
        if (strchr("<([{", *at) != NULL)
            depth++;
        else if (strchr(">)]}", *at) != NULL && depth > 0)
            depth--;
        else if (depth == 0 && at[0] == ':' && at[1] == ':' && !width_is_dependent(at + 2))
            return at + 2;
    }
    return NULL;
}

/* The last name of the type that a part of Rust's names is about, "T<>" of "<&mut a::T<> as Trait>::f" and of
 * "<impl Trait for a::T<>>::f", where rest is f; NULL: it is about none. */
static const char *width_find_type(const char *part, const char *rest, size_t *length)
{
    const char *type = part + 1, *end = rest - strlen(">::");
    size_t depth = 0;
    if (part[0] != '<' || *end != '>')
        return NULL;
    for (const char *at = type; at < end; at++) {
        if (strncmp(at, "->", 2) == 0)
            return NULL;
        if (strchr("<([{", *at) != NULL)
            depth++;
        else if (strchr(">)]}", *at) != NULL && depth > 0)
            depth--;
        else if (depth == 0 && (strncmp(at, " as ", 4) == 0 || strncmp(at, " + ", 3) == 0))
            end = at;
        else if (depth == 0 && (strchr(" &*", *at) != NULL ||
                                (at[0] == ':' && at[-1] == ':' && !width_is_dependent(at + 1))))
            type = at + 1;
    }
    *length = (size_t)(end - type);
    return *length == 0 ? NULL : type;
}

size_t width_add_name(struct strbuf *out, const char *name, size_t columns, bool unicode)
{
    const char *sign, *part = name;
    size_t mark = width_mark(unicode, &sign), width = width_of(name), length = 0;
    if (width <= columns || columns <= mark)
        return width_add(out, name, columns, unicode);
    for (const char *rest = width_next_part(part); rest != NULL; part = rest, rest = width_next_part(part)) {
        const char *type = width_find_type(part, rest, &length);
        width -= width_of_bytes(part, (size_t)(rest - part));
        size_t typed = type == NULL ? 0 : mark + width_of_bytes(type, length) + strlen("::") + width;
        if (type != NULL && typed <= columns) {
            strbuf_add_text(out, sign);
            strbuf_add(out, type, length);
            strbuf_addf(out, "::%s", rest);
            return typed;
        }
        if (mark + width <= columns) {
            strbuf_add_text(out, sign);
            return mark + width_add(out, rest, columns - mark, unicode);
        }
    }
    return width_add(out, part, columns, unicode);
}

size_t width_add_path(struct strbuf *out, const char *path, size_t columns, bool unicode)
{
    const char *sign, *last = strrchr(path, '/');
    size_t mark = width_mark(unicode, &sign), width = width_of(path);
    if (width <= columns || last == NULL)
        return width_add(out, path, columns, unicode);
    for (const char *rest = path, *next; rest < last; rest = next) {
        next = strchr(rest + 1, '/');
        width -= width_of_bytes(rest, (size_t)(next - rest));
        if (mark + width <= columns) {
            strbuf_addf(out, "%s%s", sign, next);
            return mark + width;
        }
    }
    return width_add(out, last + 1, columns, unicode);
}

size_t width_add_begin(struct strbuf *out, const char *text, size_t columns, bool unicode)
{
    const char *sign;
    size_t mark = width_mark(unicode, &sign), used;
    if (width_of(text) <= columns || columns <= mark)
        return width_add(out, text, columns, unicode);
    strbuf_add(out, text, width_fit(text, strlen(text), columns - mark, &used));
    strbuf_add_text(out, sign);
    return used + mark;
}

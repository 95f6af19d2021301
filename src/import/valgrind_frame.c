/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * valgrind_frame: see valgrind_frame.h.
 */
#include "import/valgrind_frame.h"

#include <string.h>

#include "import/linescan.h"

/* Cuts "(file:line)" or "(in path)" off the end; what stands in it, or NULL. */
static const char *valgrind_place(const char *text, size_t *length, size_t *inside)
{
    if (*length < 3 || text[*length - 1] != ')')
        return NULL;
    for (size_t i = *length - 1; i >= 2; i--) {
        if (text[i - 1] == '(' && text[i - 2] == ' ') {
            *inside = *length - 1 - i;
            *length = i - 2;
            return text + i;
        }
    }
    return NULL;
}

/* "file:line" or "file:line:column"; false: it is neither. */
static bool valgrind_line(const char *text, size_t length, struct recast_name *name)
{
    const char *colon = memrchr(text, ':', length);
    struct linescan s;
    if (colon == NULL)
        return false;
    const char *before = memrchr(text, ':', (size_t)(colon - text));
    linescan_init(&s, colon + 1, length - (size_t)(colon + 1 - text));
    uint64_t line = linescan_decimal(&s);
    if (!linescan_is_done(&s))
        return false;
    if (before != NULL) {
        linescan_init(&s, before + 1, (size_t)(colon - before - 1));
        uint64_t first = linescan_decimal(&s);
        if (linescan_is_done(&s)) {
            line = first;
            colon = before;
        }
    }
    name->file = (struct recast_text){text, (size_t)(colon - text)};
    name->line = line > UINT32_MAX / 2 ? 0 : (uint32_t)line;
    return true;
}

struct wake_frame valgrind_frame(struct recast *r, const char *text, size_t length)
{
    struct linescan s;
    struct recast_name name = {{"", 0}, {"", 0}, 0};
    uint32_t module = 0;
    size_t inside;
    linescan_init(&s, text, length);
    uint64_t address = linescan_address(&s);
    linescan_expect(&s, ": ");
    if (s.bad) {
        linescan_init(&s, text, length);
        address = 0;
    }
    const char *function = s.at;
    size_t function_length = linescan_left(&s);
    const char *place = valgrind_place(function, &function_length, &inside);
    if (place != NULL && inside > 3 && memcmp(place, "in ", 3) == 0)
        module = recast_module_at(r, place + 3, inside - 3);
    else if (place != NULL && !valgrind_line(place, inside, &name))
        function_length = (size_t)(text + length - function); /* it is part of the name */
    bool is_known = function_length != 3 || memcmp(function, "???", 3) != 0;
    if (is_known)
        name.function = (struct recast_text){function, function_length};
    /* Valgrind gives the address of the call, one before where it returns to. */
    return recast_frame(r, module, address + 1, &name, is_known || name.file.length > 0);
}

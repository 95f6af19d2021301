/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * callers: see callers.h.
 */
#include "present/callers.h"

#include "present/frames.h"

size_t callers_print_lead(struct page *p, const struct traces *c, uint32_t trace, size_t columns)
{
    static const char none[] = "(no stack)";
    if (trace != 0)
        return frames_print(p, traces_frame(c, traces_find_own(c, trace)), columns, true);
    page_add(p, COLOUR_QUIET, none);
    return sizeof none - 1;
}

/* The library call that own code made: the outermost frame below it; 0 = none. */
static uint32_t callers_find_via(const struct traces *c, uint32_t trace, uint32_t own)
{
    uint32_t via = 0;
    for (uint32_t at = trace; at != own; at = traces_parent(c, at)) {
        if (traces_frame(c, at)->role == FRAME_LIBRARY)
            via = at;
    }
    return via;
}

static bool callers_is_shown(const struct frame *f)
{
    return f->role == FRAME_OWN || f->role == FRAME_GAP;
}

/* How many are to be shown from here outwards. */
static size_t callers_count(const struct traces *c, uint32_t trace)
{
    size_t count = 0;
    for (; trace != 0; trace = traces_parent(c, trace))
        count += callers_is_shown(traces_frame(c, trace));
    return count;
}

void callers_print_below(struct page *p, const struct traces *c, uint32_t trace, size_t indent, size_t limit)
{
    if (trace == 0)
        return;
    size_t left = p->width > indent + 10 ? p->width - indent : 10, shown = 0;
    uint32_t own = traces_find_own(c, trace), via = callers_find_via(c, trace, own);
    if (via != 0) {
        page_addf(p, COLOUR_QUIET, "%*sin ", (int)indent, "");
        frames_print(p, traces_frame(c, via), left - 3, false);
        page_end_line(p);
    }
    size_t count = callers_count(c, traces_parent(c, own));
    /* A line that says "1 more" may as well name it. */
    limit = count == limit + 1 ? count : limit;
    for (uint32_t at = traces_parent(c, own); at != 0 && shown < limit; at = traces_parent(c, at)) {
        const struct frame *f = traces_frame(c, at);
        if (!callers_is_shown(f))
            continue;
        page_addf(p, COLOUR_QUIET, "%*s< ", (int)indent, "");
        frames_print(p, f, left - 2, false);
        page_end_line(p);
        shown++;
    }
    if (shown < count) {
        page_addf(p, COLOUR_QUIET, "%*s< %zu more", (int)indent, "", count - shown);
        page_end_line(p);
    }
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * callers: see callers.h.
 */
#include "present/callers.h"

#include "analysis/role.h"
#include "present/frames.h"
#include "present/rounds.h"
#include "present/safe.h"
#include "present/units.h"
#include "present/width.h"

#include <string.h>

size_t callers_print_lead(struct page *p, const struct traces *c, uint32_t trace, size_t columns)
{
    static const char none[] = "(no stack)";
    if (trace != 0)
        return frames_print(p, traces_frame(c, traces_find_own(c, trace)), columns, true);
    page_add(p, COLOUR_QUIET, none);
    return sizeof none - 1;
}

/* The caller that a line about own code without a name begins with; own itself where it has one, or nothing has. */
static uint32_t callers_find_named(const struct traces *c, uint32_t own)
{
    uint32_t named = traces_frame(c, own)->role == FRAME_OWN ? rounds_named(c, own) : own;
    return named == 0 ? own : named;
}

size_t callers_print_named_lead(struct page *p, const struct traces *c, uint32_t trace, size_t columns)
{
    uint32_t own = trace == 0 ? 0 : traces_find_own(c, trace),
             named = own == 0 ? 0 : callers_find_named(c, own);
    if (named == own)
        return callers_print_lead(p, c, trace, columns);
    size_t between = 0;
    for (uint32_t at = rounds_caller(c, traces_parent(c, own)); at != named;
         at = rounds_caller(c, traces_parent(c, at)))
        between++;
    char place[FRAME_PLACE_MAX];
    struct strbuf name, behind;
    strbuf_init(&name);
    strbuf_init(&behind);
    frames_add_name(&name, traces_frame(c, named));
    if (between != 0)
        strbuf_addf(&behind, " > %zu unnamed", between);
    size_t counted = behind.length;
    strbuf_add_text(&behind, " > ");
    const struct frame *f = traces_frame(c, own);
    safe_add_text(&behind, frame_spell_place(place, f->module, f->address));
    /* Half a place says nothing. */
    if (counted != 0 && width_of(strbuf_get(&name)) + width_of(strbuf_get(&behind)) > columns)
        strbuf_cut(&behind, counted);
    size_t tail = width_of(strbuf_get(&behind)), room = columns > tail ? columns - tail : 0;
    size_t used = page_add_name(p, COLOUR_NAME, strbuf_get(&name), room < columns / 3 ? columns / 3 : room);
    used += page_add_short(p, COLOUR_PLACE, strbuf_get(&behind), columns - used);
    strbuf_release(&name);
    strbuf_release(&behind);
    return used;
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

/* The caller of own that a short line begins with: the first that is not of a package, as a line full of a package's
 * functions does not tell which call of the program's it was; without such a one the first. */
static uint32_t callers_find_first(const struct traces *c, uint32_t own)
{
    uint32_t first = rounds_caller(c, traces_parent(c, own));
    for (uint32_t at = first; at != 0; at = rounds_caller(c, traces_parent(c, at))) {
        const struct frame *f = traces_frame(c, at);
        if (f->file[0] != '\0' && !role_is_packaged(f))
            return at;
    }
    return first;
}

void callers_print_line(struct page *p, const struct traces *c, uint32_t trace, size_t indent, bool named)
{
    static const char in[] = "in ";
    uint32_t own = trace == 0 ? 0 : traces_find_own(c, trace);
    if (own == 0)
        return;
    size_t columns = p->width > indent + 10 ? p->width - indent : 10, used = 0;
    uint32_t via = callers_find_via(c, trace, own);
    uint32_t first = callers_find_first(c, named ? callers_find_named(c, own) : own);
    if (via == 0 && first == 0)
        return;
    page_addf(p, COLOUR_PLAIN, "%*s", (int)indent, "");
    if (via != 0) {
        struct strbuf name;
        strbuf_init(&name);
        frames_add_name(&name, traces_frame(c, via));
        page_add(p, COLOUR_QUIET, in);
        used = strlen(in) + page_add_name(p, COLOUR_QUIET, strbuf_get(&name),
                                          (first == 0 ? columns : columns / 2) - strlen(in));
        strbuf_release(&name);
    }
    if (first != 0) {
        used += page_add_short(p, COLOUR_QUIET, used == 0 ? "" : " ", 1);
        frames_print_callers(p, c, first, columns - used);
    }
    page_end_line(p);
}

/* How many are to be shown from here outwards. */
static size_t callers_count(const struct traces *c, uint32_t trace)
{
    size_t count = 0;
    for (uint32_t at = rounds_caller(c, trace); at != 0; at = rounds_caller(c, traces_parent(c, at)))
        count++;
    return count;
}

/* The lines of one round; returns how many frames are in it. */
static size_t callers_print_round(struct page *p, const struct traces *c, const struct rounds *r,
                                  size_t indent, size_t columns)
{
    char note[ROUNDS_NOTE_MAX];
    size_t width = strlen(rounds_note(note, r));
    for (unsigned i = 0; i < r->length; i++) {
        bool is_last = i + 1 == r->length;
        page_addf(p, COLOUR_QUIET, "%*s< ", (int)indent, "");
        frames_print(p, traces_frame(c, r->places[i]), is_last && columns > width ? columns - width : columns,
                     false);
        page_add(p, COLOUR_QUIET, is_last ? note : "");
        page_end_line(p);
    }
    return r->length * r->times;
}

void callers_print_below(struct page *p, const struct traces *c, uint32_t trace, size_t indent, size_t limit)
{
    if (trace == 0)
        return;
    size_t left = p->width > indent + 10 ? p->width - indent : 10;
    uint32_t own = traces_find_own(c, trace), via = callers_find_via(c, trace, own);
    if (via != 0) {
        page_addf(p, COLOUR_QUIET, "%*sin ", (int)indent, "");
        frames_print(p, traces_frame(c, via), left - 3, false);
        page_end_line(p);
    }
    uint32_t at = traces_parent(c, own);
    size_t rest = callers_count(c, at);
    /* A line that says "1 more" may as well name it. */
    for (size_t shown = 0; rest > 0 && (shown < limit || rest == 1);) {
        struct rounds r = rounds_of_callers(c, at);
        rest -= callers_print_round(p, c, &r, indent, left - 2);
        shown += r.length;
        at = traces_parent(c, r.last);
    }
    if (rest > 0) {
        char a[UNITS_MAX];
        page_addf(p, COLOUR_QUIET, "%*s< %s more", (int)indent, "", units_count(a, rest));
        page_end_line(p);
    }
}

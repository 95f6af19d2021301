/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * frames: see frames.h.
 */
#include "present/frames.h"

#include "present/rounds.h"
#include "present/safe.h"
#include "present/width.h"

#include <stdio.h>
#include <string.h>

/* The name without what is between < and > (operators keep theirs), without arguments of functions inside it,
 * and without noise. */
static void frames_add_without_arguments(struct strbuf *out, const char *name, size_t length)
{
    size_t depth = 0, skip, part_length;
    const char *part;
    for (size_t i = 0; i < length; i++) {
        bool is_arrow = i > 0 && name[i] == '>' && name[i - 1] == '-';
        if (is_arrow || (skip = frame_skip_sign_of(name, i)) != 0) {
            skip = is_arrow ? 1 : skip < length - i ? skip : length - i;
            safe_add(out, name + i, depth == 0 ? skip : 0);
            i += skip - 1;
        } else if (depth == 0 && i > 0 && (skip = frame_skip_arguments(name, i)) != 0 && skip < length - i) {
            bool is_receiver = name[i - 1] == '.';
            safe_add(out, name + i, is_receiver ? skip : 0);
            strbuf_add_text(out, name[i - 1] == '!' ? "()" : "");
            i += skip - 1;
        } else if (depth == 0 && (skip = frame_split_part(name + i, length - i, &part, &part_length)) != 0) {
            strbuf_add_char(out, '{');
            safe_add(out, part, part_length);
            strbuf_add_char(out, '}');
            i += skip - 1;
        } else if (name[i] == '<' && (depth > 0 || length - i < 6 || memcmp(name + i, "<impl ", 6) != 0)) {
            if (depth++ == 0)
                strbuf_add_char(out, '<');
        } else if (name[i] == '>' && depth > 0) {
            if (--depth == 0)
                strbuf_add_char(out, '>');
        } else if (depth == 0) {
            size_t n = frame_skip_noise(name + i, length - i);
            if (n == 0) {
                /* Up to the next part of the name. */
                for (n = 1; i + n < length && name[i + n - 1] != ':' && strchr("<>({", name[i + n]) == NULL;)
                    n++;
                safe_add(out, name + i, n);
            }
            i += n - 1;
        }
    }
}

/* Rust's methods: <a::T<> as Trait>::f, where the trait is known by its last part, and a::T<>::f. Bytes of the name
 * that were said. */
static size_t frames_add_self(struct strbuf *out, const char *name, size_t length)
{
    struct frame_self self;
    size_t used = frame_split_self(name, length, &self), last = 0, depth = 0;
    if (used == 0)
        return 0;
    bool is_path = self.trait == NULL && strchr("&*[(<", self.type[0]) == NULL;
    strbuf_add_text(out, is_path ? "" : "<");
    frames_add_without_arguments(out, self.type, self.type_length);
    for (size_t i = 0; i + 1 < self.trait_length; i++) {
        depth += self.trait[i] == '<';
        depth -= self.trait[i] == '>' && depth > 0;
        if (depth == 0 && memcmp(self.trait + i, "::", 2) == 0)
            last = i + 2;
    }
    if (self.trait != NULL) {
        strbuf_add_text(out, " as ");
        frames_add_without_arguments(out, self.trait + last, self.trait_length - last);
    }
    strbuf_add_text(out, is_path ? "" : ">");
    return used;
}

void frames_add_name(struct strbuf *out, const struct frame *f)
{
    size_t length;
    if (f->role == FRAME_GAP) {
        strbuf_add_text(out, f->function);
        return;
    }
    if (f->function[0] == '\0') {
        char place[FRAME_PLACE_MAX];
        safe_add_text(out, frame_spell_place(place, f->module, f->address));
        return;
    }
    const char *name = frame_find_name(f->function, &length);
    size_t used = frames_add_self(out, name, length);
    if (length == 0)
        safe_add_text(out, f->function);
    else
        frames_add_without_arguments(out, name + used, length - used);
}

void frames_add_place(struct strbuf *out, const struct frame *f)
{
    if (f->file[0] != '\0') {
        safe_add_text(out, frame_basename(f->file));
        if (f->line != 0)
            strbuf_addf(out, ":%u", f->line);
    } else if (f->function[0] != '\0' && f->module[0] != '\0') {
        safe_add_text(out, frame_basename(f->module));
    }
}

size_t frames_print(struct page *p, const struct frame *f, size_t columns, bool lead)
{
    struct strbuf name, place;
    strbuf_init(&name);
    strbuf_init(&place);
    frames_add_name(&name, f);
    frames_add_place(&place, f);
    /* The place is short and tells most: the name gives way first, down to a third. */
    size_t place_width = width_of(strbuf_get(&place)), gap = place_width == 0 ? 0 : 2;
    size_t name_columns = columns > place_width + gap ? columns - place_width - gap : 0;
    if (name_columns < columns / 3)
        name_columns = columns / 3;
    size_t used = page_add_name(p, lead ? COLOUR_NAME : COLOUR_PLAIN, strbuf_get(&name), name_columns);
    if (gap != 0 && used + gap < columns) {
        page_add(p, COLOUR_PLAIN, "  ");
        used += gap;
        used += page_add_short(p, COLOUR_PLACE, strbuf_get(&place), columns - used);
    }
    strbuf_release(&name);
    strbuf_release(&place);
    return used;
}

/* What stands behind the name: " a.c:5", and the note. */
static void frames_add_behind(struct strbuf *out, const struct frame *f, const char *note)
{
    if (f->line != 0) {
        strbuf_add_char(out, ' ');
        frames_add_place(out, f);
    }
    strbuf_add_text(out, note[0] == '\0' ? "" : note + 1); /* one blank is enough here */
}

/* "< serve a.c:5"; one that does not fit is made shorter if it is the first, else left out.  Returns the columns used. */
static size_t frames_print_caller(struct page *p, const struct frame *f, const char *note, bool is_first,
                                  size_t columns)
{
    struct strbuf name, behind;
    const char *lead = is_first ? "< " : " < ";
    size_t used = 0;
    strbuf_init(&name);
    strbuf_init(&behind);
    frames_add_name(&name, f);
    frames_add_behind(&behind, f, note);
    size_t tail = width_of(strbuf_get(&behind)), before = strlen(lead);
    if (is_first || before + width_of(strbuf_get(&name)) + tail <= columns) {
        size_t room = columns > before + tail ? columns - before - tail : 0;
        used = page_add_short(p, COLOUR_QUIET, lead, columns);
        room = room < columns / 3 ? columns / 3 : room;
        used += page_add_name(p, COLOUR_QUIET, strbuf_get(&name), room);
        used += page_add_short(p, COLOUR_QUIET, strbuf_get(&behind), columns - used);
    }
    strbuf_release(&name);
    strbuf_release(&behind);
    return used;
}

/* Passes over callers without names to the first that has one, if there is any. */
static uint32_t frames_skip_unnamed(const struct traces *c, uint32_t trace, size_t *skipped)
{
    uint32_t at = rounds_caller(c, trace), named = rounds_named(c, at);
    for (; named != 0 && at != named && traces_frame(c, at)->role == FRAME_OWN;
         at = rounds_caller(c, traces_parent(c, at)))
        ++*skipped;
    return at;
}

size_t frames_print_callers(struct page *p, const struct traces *c, uint32_t trace, size_t columns)
{
    char note[ROUNDS_NOTE_MAX + 32];
    size_t used = 0;
    bool is_full = false;
    while (!is_full && rounds_caller(c, trace) != 0) {
        size_t skipped = 0;
        trace = frames_skip_unnamed(c, trace, &skipped);
        struct rounds r = rounds_of_callers(c, trace);
        rounds_note(note, &r);
        if (skipped != 0 && r.times == 1)
            snprintf(note, sizeof note, "  (%zu unnamed skipped)", skipped);
        for (unsigned i = 0; i < r.length && !is_full; i++) {
            size_t more = frames_print_caller(p, traces_frame(c, r.places[i]), i + 1 == r.length ? note : "",
                                              used == 0, columns - used);
            is_full = more == 0;
            used += more;
        }
        trace = traces_parent(c, r.last);
    }
    return used;
}

void frames_json_members(struct json *j, const struct frame *f)
{
    char address[24];
    json_add_text(j, "function", f->function, strlen(f->function));
    json_add_text(j, "file", f->file, strlen(f->file));
    json_add_number(j, "line", f->line);
    json_add_text(j, "module", f->module, strlen(f->module));
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)f->address);
    json_add_text(j, "address", address, strlen(address));
    json_add_bool(j, "inlined", f->inlined);
}

static void frames_json(struct json *j, const struct frame *f)
{
    json_open_object(j, NULL);
    frames_json_members(j, f);
    json_close_object(j);
}

void frames_json_trace(struct json *j, const char *key, const struct traces *c, uint32_t trace)
{
    json_open_array(j, key);
    for (; trace != 0; trace = traces_parent(c, trace))
        frames_json(j, traces_frame(c, trace));
    json_close_array(j);
}

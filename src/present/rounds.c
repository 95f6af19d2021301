/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rounds: see rounds.h.
 */
#include "present/rounds.h"

#include "present/units.h"

#include <stdbool.h>
#include <stdio.h>

/* Fills in a round of so many frames and follows it as often as it goes; false: the way is too short. */
static bool rounds_follow(const struct rounds_way *way, uint32_t place, unsigned length, struct rounds *r)
{
    *r = (struct rounds){.length = length, .times = 1};
    uint32_t at = place;
    for (unsigned i = 0; i < length; i++) {
        if (at == 0)
            return false;
        r->places[i] = r->last = at;
        at = way->next(way->of, at);
    }
    for (;;) {
        uint32_t last = 0;
        for (unsigned i = 0; i < length; i++) {
            if (at == 0 || way->number(way->of, at) != way->number(way->of, r->places[i]))
                return true;
            last = at;
            at = way->next(way->of, at);
        }
        r->last = last;
        r->times++;
    }
}

struct rounds rounds_find(const struct rounds_way *way, uint32_t place)
{
    struct rounds r;
    if (place == 0)
        return (struct rounds){0};
    for (unsigned length = 1; length <= ROUNDS_LONGEST; length++) {
        if (!rounds_follow(way, place, length, &r))
            break;
        if ((r.times - 1) * length >= 2)
            return r;
    }
    return (struct rounds){.places = {place}, .length = 1, .times = 1, .last = place};
}

uint32_t rounds_caller(const struct traces *c, uint32_t trace)
{
    while (trace != 0 && traces_frame(c, trace)->role != FRAME_OWN &&
           traces_frame(c, trace)->role != FRAME_GAP)
        trace = traces_parent(c, trace);
    return trace;
}

uint32_t rounds_named(const struct traces *c, uint32_t trace)
{
    while (trace != 0 &&
           (traces_frame(c, trace)->role != FRAME_OWN || traces_frame(c, trace)->function[0] == '\0'))
        trace = traces_parent(c, trace);
    return trace;
}

static uint32_t rounds_next_caller(const void *of, uint32_t trace)
{
    return rounds_caller(of, traces_parent(of, trace));
}

static uint32_t rounds_number_of_caller(const void *of, uint32_t trace)
{
    return traces_sight(of, trace);
}

struct rounds rounds_of_callers(const struct traces *c, uint32_t trace)
{
    const struct rounds_way way = {c, rounds_next_caller, rounds_number_of_caller};
    return rounds_find(&way, rounds_caller(c, trace));
}

const char *rounds_note(char note[ROUNDS_NOTE_MAX], const struct rounds *r)
{
    char times[UNITS_MAX];
    note[0] = '\0';
    units_count(times, r->times);
    if (r->times > 1 && r->length == 1)
        snprintf(note, ROUNDS_NOTE_MAX, "  (%s times)", times);
    else if (r->times > 1 && r->length == 2)
        snprintf(note, ROUNDS_NOTE_MAX, "  (both %s times)", times);
    else if (r->times > 1)
        snprintf(note, ROUNDS_NOTE_MAX, "  (these %u, %s times)", r->length, times);
    return note;
}

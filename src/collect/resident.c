/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * resident: see resident.h.
 */
#include "collect/resident.h"

#define MS UINT64_C(1000000)

enum {
    RESIDENT_YOUNG_MS = 1000, /* a program's first second, in which most happens, */
    RESIDENT_EARLY_MS = 20,   /* is looked at so often, */
    RESIDENT_USUAL_MS = 100,  /* later life so, */
    RESIDENT_STILL_MS = 1000, /* and who has had no event for sixteen times as long so */
    RESIDENT_STILL_PART = 16,
    RESIDENT_LIFE_PART = 1024,
    RESIDENT_SILENCE_MS = 60 * 1000,
    RESIDENT_NEWS_PART = 256,
};

static uint64_t resident_clamp(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

void resident_init(struct resident *r, uint64_t start_ns)
{
    *r = (struct resident){.start_ns = start_ns, .stirred_ns = start_ns};
}

uint64_t resident_rest_ns(struct resident *r, uint64_t now_ns, uint64_t events)
{
    if (events != r->events || now_ns < r->stirred_ns) {
        r->events = events;
        r->stirred_ns = now_ns;
    }
    return resident_clamp((now_ns - r->stirred_ns) / RESIDENT_STILL_PART, RESIDENT_USUAL_MS * MS,
                          RESIDENT_STILL_MS * MS);
}

bool resident_is_due(struct resident *r, uint64_t now_ns, uint64_t events)
{
    uint64_t rest_ns = resident_rest_ns(r, now_ns, events);
    if (now_ns < r->start_ns + RESIDENT_YOUNG_MS * MS)
        rest_ns = RESIDENT_EARLY_MS * MS;
    /* One that was put off while the process was still is made up for when it stirs. */
    if (now_ns < r->next_ns && r->next_ns - now_ns <= rest_ns)
        return false;
    r->next_ns = now_ns + rest_ns;
    return true;
}

static bool resident_is_news(const struct resident *r, uint64_t now_ns, uint64_t bytes)
{
    uint64_t off = bytes > r->told.bytes ? bytes - r->told.bytes : r->told.bytes - bytes;
    uint64_t silence_ns = resident_clamp((now_ns - r->start_ns) / RESIDENT_LIFE_PART, RESIDENT_USUAL_MS * MS,
                                         RESIDENT_SILENCE_MS * MS);
    return r->told.bytes == 0 || off > r->told.bytes / RESIDENT_NEWS_PART ||
           now_ns - r->told.time_ns >= silence_ns || now_ns < r->start_ns + RESIDENT_YOUNG_MS * MS;
}

unsigned resident_note(struct resident *r, uint64_t now_ns, uint64_t bytes,
                       struct resident_look told[RESIDENT_TOLD_MAX])
{
    const struct resident_look look = {now_ns, bytes};
    unsigned count = 0;
    if (!resident_is_news(r, now_ns, bytes)) {
        if (bytes > r->highest && bytes > r->held.bytes)
            r->held = look;
        return 0;
    }
    if (r->held.bytes > bytes)
        told[count++] = r->held;
    told[count++] = look;
    r->told = look;
    r->highest = r->highest > told[0].bytes ? r->highest : told[0].bytes;
    r->held = (struct resident_look){0};
    return count;
}

unsigned resident_finish(struct resident *r, struct resident_look told[RESIDENT_TOLD_MAX])
{
    unsigned count = r->held.bytes > 0;
    told[0] = r->held;
    r->told = r->held = (struct resident_look){0};
    r->highest = 0;
    return count;
}

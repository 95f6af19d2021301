/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * fake_player: for tests: plays a score on one thread, part after part as far as
 * each can go, and holds it against what wire/score.h promises: blocks are made
 * once and released once, nobody meets another's block, nobody waits for ever.
 */
#ifndef HW_ANALYSIS_FAKE_PLAYER_H
#define HW_ANALYSIS_FAKE_PLAYER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "wire/score.h"

struct fake_play {
    uint64_t made, changed, released, waits;
    uint64_t peak_bytes; /* in the order in which it happened to be played */
};

struct fake_slot {
    bool is_full;
    uint32_t maker;
    uint64_t size;
};

struct fake_stage {
    const struct score_head *head;
    const struct score_part *parts;
    const struct score_window *windows;
    const struct score_call *calls;
    struct fake_slot *slots;
    uint64_t *left;   /* by window, parts that have left it */
    uint64_t *window; /* where each part is + 1 */
    uint64_t lead;
    uint64_t *done; /* calls of each part */
    uint64_t live_bytes;
    struct fake_play *play;
};

/* Where the calls begin. */
static inline size_t fake_offset(const struct score_head *head)
{
    size_t before =
        sizeof *head + head->parts * sizeof(struct score_part) + head->windows * sizeof(struct score_window);
    return (before + 15) / 16 * 16;
}

static inline void fake_put(struct fake_stage *s, uint32_t part, const struct score_call *c)
{
    struct fake_slot *slot = &s->slots[c->slot];
    if (slot->is_full)
        abort();
    *slot = (struct fake_slot){true, part, score_call_size(c)};
    s->live_bytes += slot->size;
    if (s->live_bytes > s->play->peak_bytes)
        s->play->peak_bytes = s->live_bytes;
}

/* False: the block has still to be made. */
static inline bool fake_take(struct fake_stage *s, uint32_t number)
{
    struct fake_slot *slot = &s->slots[number];
    if (!slot->is_full)
        return false;
    slot->is_full = false;
    s->live_bytes -= slot->size;
    return true;
}

static inline void fake_leave(struct fake_stage *s, uint32_t part)
{
    if (s->window[part] != 0)
        s->left[s->window[part] - 1]++;
    s->window[part] = 0;
}

static inline bool fake_enter(struct fake_stage *s, uint32_t part, uint64_t window)
{
    if (window >= s->head->windows)
        abort();
    fake_leave(s, part);
    for (uint64_t i = 0; i + s->lead < window; i++) {
        if (s->left[i] > s->windows[i].parts)
            abort();
        if (s->left[i] < s->windows[i].parts)
            return false;
    }
    s->window[part] = window + 1;
    return true;
}

/* False: it has to wait. */
static inline bool fake_call(struct fake_stage *s, uint32_t part, const struct score_call *c)
{
    if (score_call_verb(c) == SCORE_ENTER)
        return fake_enter(s, part, c->slot);
    if (c->slot >= s->head->slots || c->old >= s->head->slots)
        abort();
    switch (score_call_verb(c)) {
    case SCORE_FREE:
        if (!fake_take(s, c->slot))
            return false;
        s->play->released++;
        return true;
    case SCORE_REALLOC:
        if (!fake_take(s, c->old))
            return false;
        s->play->changed++;
        break;
    case SCORE_MALLOC:
    case SCORE_CALLOC:
    case SCORE_ALIGNED:
        s->play->made++;
        break;
    default:
        abort();
    }
    fake_put(s, part, c);
    return true;
}

/* Plays a part as far as it goes; true: it went on. */
static inline bool fake_part(struct fake_stage *s, uint32_t part)
{
    const struct score_part *p = &s->parts[part];
    uint64_t before = s->done[part];
    if (p->after > part || p->ends >= s->head->parts)
        abort();
    for (uint32_t i = 0; i < p->after; i++) {
        uint32_t other = s->parts[i].ends;
        if (s->done[other] < s->parts[other].count)
            return false;
    }
    while (s->done[part] < p->count && fake_call(s, part, &s->calls[p->first + s->done[part]]))
        s->done[part]++;
    if (s->done[part] == p->count)
        fake_leave(s, part);
    s->play->waits += s->done[part] < p->count;
    return s->done[part] > before;
}

/* The last parts go first, so that whoever must wait does. */
static inline struct fake_play fake_player(const void *memory, enum score_lead lead)
{
    struct fake_play play = {0};
    const struct score_head *head = memory;
    const struct score_part *parts = (const struct score_part *)(head + 1);
    struct fake_stage s = {.head = head,
                           .parts = parts,
                           .windows = (const struct score_window *)(parts + head->parts),
                           .calls = (const struct score_call *)((const char *)memory + fake_offset(head)),
                           .left = calloc(head->windows + 1, sizeof(uint64_t)),
                           .window = calloc((size_t)head->parts + 1, sizeof(uint64_t)),
                           .lead = lead,
                           .slots = calloc((size_t)head->slots + 1, sizeof(struct fake_slot)),
                           .done = calloc((size_t)head->parts + 1, sizeof(uint64_t)),
                           .play = &play};
    bool goes_on = true;
    if (head->magic != SCORE_MAGIC || s.slots == NULL || s.done == NULL || s.left == NULL || s.window == NULL)
        abort();
    while (goes_on) {
        goes_on = false;
        for (uint32_t i = head->parts; i-- > 0;)
            goes_on = fake_part(&s, i) || goes_on;
    }
    for (uint32_t i = 0; i < head->parts; i++) {
        if (s.done[i] != parts[i].count)
            abort();
    }
    free(s.slots);
    free(s.done);
    free(s.left);
    free(s.window);
    return play;
}

#endif

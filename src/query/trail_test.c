/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "query/trail.h"

enum { EVENTS = 3000, BATCH = 100, ROWS_MAX = 3000000 };

/* A random history, and where it was paused. */
struct history {
    uint64_t random;
    size_t rows;
    uint64_t time_ns[EVENTS], size[EVENTS];
    uint32_t row[EVENTS];
    bool falls[EVENTS], is_event[EVENTS];
    size_t pauses[EVENTS / BATCH + 1]; /* word at which a batch begins */
};

static uint64_t below(struct history *h, uint64_t limit)
{
    h->random = hash_spread(h->random + 0x9e3779b97f4a7c15);
    return h->random % limit;
}

/* Sizes around what fits into a word, and far beyond. */
static uint64_t any_size(struct history *h, unsigned bits)
{
    switch (below(h, 6)) {
    case 0:
        return (UINT64_C(1) << bits) - 2 + below(h, 4);
    case 1:
        return below(h, UINT64_C(1) << 40);
    default:
        return below(h, 300);
    }
}

static void make_history(struct history *h, struct trail *t, uint64_t seed, size_t rows)
{
    uint32_t steps[BATCH];
    struct trail_long longs[BATCH];
    uint64_t now = seed % 2 == 0 ? 0 : UINT64_C(1) << 50;
    h->random = seed;
    h->rows = rows;
    assert_true(trail_init(t, rows, (size_t)EVENTS * TRAIL_EVENT_MAX));
    for (size_t i = 0; i < EVENTS; i += BATCH) {
        size_t long_count = 0;
        if (below(h, 2) == 0)
            trail_pause(t);
        h->pauses[i / BATCH] = t->time_ns == TRAIL_NEVER ? t->count : SIZE_MAX;
        for (size_t k = 0; k < BATCH; k++) {
            size_t at = i + k;
            now += below(h, 3) != 0   ? 0
                   : below(h, 3) == 0 ? (UINT64_C(1) << t->bits) - 2 + below(h, 4)
                                      : below(h, UINT64_C(1) << (10 + below(h, 30)));
            h->time_ns[at] = now;
            h->row[at] = (uint32_t)(below(h, 3) == 0 ? rows - 1 : below(h, rows));
            h->size[at] = any_size(h, t->bits);
            h->falls[at] = below(h, 2) == 0;
            h->is_event[at] = below(h, 8) != 0;
            steps[k] = TRAIL_NONE;
            if (h->is_event[at] && h->size[at] >> t->bits != 0)
                longs[long_count++] = (struct trail_long){(uint32_t)k, h->row[at], h->size[at], h->falls[at]};
            else if (h->is_event[at])
                steps[k] = (h->row[at] << t->bits) + (uint32_t)h->size[at] + (h->falls[at] ? TRAIL_FALLS : 0);
        }
        assert_true(trail_add(t, steps, h->time_ns + i, BATCH, longs, long_count));
    }
}

/* What each tick should have. */
struct ticks {
    uint64_t next, length;
    size_t count;
    struct trail_level all[1000];
};

static uint64_t end_tick(struct trail_level *level, void *context)
{
    struct ticks *t = context;
    if (t->count < 1000)
        t->all[t->count++] = *level;
    level->highest_bytes = level->bytes;
    level->highest_blocks = level->blocks;
    level->made_blocks = level->made_bytes = level->gone_blocks = 0;
    t->next += t->length;
    return t->count < 1000 ? t->next : UINT64_MAX;
}

static void follow_history(const struct history *h, size_t first, const uint8_t *allowed,
                           struct trail_level *level, struct ticks *ticks)
{
    for (size_t i = first; i < EVENTS; i++) {
        if (!h->is_event[i])
            continue;
        level->time_ns = h->time_ns[i];
        while (ticks->next != UINT64_MAX && level->time_ns >= ticks->next && ticks->count < 1000)
            (void)end_tick(level, ticks);
        if (allowed != NULL && allowed[h->row[i]] == 0)
            continue;
        level->bytes += h->falls[i] ? 0 - h->size[i] : h->size[i];
        level->blocks += h->falls[i] ? UINT64_MAX : 1;
        level->gone_blocks += h->falls[i];
        level->made_blocks += !h->falls[i];
        level->made_bytes += h->falls[i] ? 0 : h->size[i];
        level->highest_bytes = level->bytes > level->highest_bytes ? level->bytes : level->highest_bytes;
        level->highest_blocks = level->blocks > level->highest_blocks ? level->blocks : level->highest_blocks;
    }
}

static void assert_same_level(const struct trail_level *a, const struct trail_level *b)
{
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->blocks, b->blocks);
    assert_int_equal(a->highest_bytes, b->highest_bytes);
    assert_int_equal(a->highest_blocks, b->highest_blocks);
    assert_int_equal(a->made_blocks, b->made_blocks);
    assert_int_equal(a->made_bytes, b->made_bytes);
    assert_int_equal(a->gone_blocks, b->gone_blocks);
}

/* From the event `first`, where the trail was paused at `word`. */
static void check_from(struct history *h, const struct trail *t, size_t first, size_t word,
                       const uint8_t *allowed, const struct trail_set *set)
{
    static struct ticks right, ours;
    uint64_t length = 1 + (h->time_ns[EVENTS - 1] - h->time_ns[first]) / (1 + below(h, 60));
    struct trail_level begin = {.bytes = UINT64_C(1) << 60, .blocks = 1000000}, level;
    begin.highest_bytes = begin.bytes;
    begin.highest_blocks = begin.blocks;
    right = ours = (struct ticks){.next = h->time_ns[first] + length, .length = length};
    level = begin;
    follow_history(h, first, allowed, &level, &right);
    struct trail_level ended = begin;
    trail_follow(t, word, t->count, &ended, set, ours.next, end_tick, &ours);
    /* Where nothing but time goes by a tick may have ended already. */
    assert_true(ours.count >= right.count);
    for (size_t i = 0; i < right.count; i++)
        assert_same_level(&ours.all[i], &right.all[i]);
    if (ours.count == right.count)
        assert_same_level(&ended, &level);
    uint64_t highest = begin.bytes;
    for (size_t i = 0; i < right.count; i++)
        highest = right.all[i].highest_bytes > highest ? right.all[i].highest_bytes : highest;
    highest = level.highest_bytes > highest ? level.highest_bytes : highest;
    if (set != NULL)
        assert_int_equal(trail_find_highest(t, word, t->count, set, begin.bytes), highest);
}

static void levels_of_any_rows_are_those_of_the_history(void **state)
{
    (void)state;
    static const size_t rows[] = {1, 2, 127, 128, 505, 32767, 100000, ROWS_MAX};
    struct history *h = calloc(1, sizeof *h);
    uint8_t *allowed = calloc(ROWS_MAX, sizeof *allowed);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct trail t;
        struct trail_set many, few;
        make_history(h, &t, seed, rows[seed % 8]);
        for (size_t i = 0; i < h->rows; i++)
            allowed[i] = below(h, 3) == 0;
        assert_true(trail_set_init(&many, &t, allowed, h->rows, false));
        assert_true(trail_set_init(&few, &t, allowed, h->rows, true));
        for (size_t i = 0; i < EVENTS / BATCH; i++) {
            if (h->pauses[i] == SIZE_MAX)
                continue;
            check_from(h, &t, i * BATCH, h->pauses[i], allowed, &many);
            check_from(h, &t, i * BATCH, h->pauses[i], allowed, &few);
            check_from(h, &t, i * BATCH, h->pauses[i], NULL, NULL);
        }
        trail_set_release(&many);
        trail_set_release(&few);
        trail_release(&t);
    }
    free(allowed);
    free(h);
}

static void a_full_trail_and_too_many_rows_are_refused(void **state)
{
    (void)state;
    struct trail t;
    const uint32_t steps[3] = {1, 2, 3};
    const uint64_t times[3] = {1, 2, 3};
    assert_false(trail_init(&t, UINT32_MAX, 100));
    trail_release(&t);
    assert_true(trail_init(&t, 10, 12));
    assert_true(trail_add(&t, steps, times, 3, NULL, 0));
    assert_false(trail_add(&t, steps, times, 3, NULL, 0));
    trail_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_of_any_rows_are_those_of_the_history),
        cmocka_unit_test(a_full_trail_and_too_many_rows_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

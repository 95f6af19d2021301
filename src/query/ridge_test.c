/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ridge_test: random lives, of which it is known at death whether they count; the peak is
 * compared with that of the definition, in time and in every row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "query/ridge.h"

enum { ROWS = 7, BLOCKS_MAX = 3000, NEVER = INT32_MAX };

struct life {
    uint64_t size;
    uint32_t row, group;
    int born, died; /* steps; each step is a moment of its own */
    bool counts;
};

static struct life lives[BLOCKS_MAX];
static size_t life_count;
static uint64_t seed;

static uint64_t any(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}

/* The level of a row behind a step; row ROWS: of all. */
static struct weight level(int step, uint32_t row)
{
    struct weight sum = {0, 0};
    for (size_t i = 0; i < life_count; i++) {
        const struct life *l = &lives[i];
        if (!l->counts || l->born > step || l->died <= step || (row != ROWS && l->row != row))
            continue;
        sum.blocks++;
        sum.bytes += l->size;
    }
    return sum;
}

/* Behind opening - 1 and each step up to last: the first that is highest. */
static uint64_t find_peak(int opening, int last, int *at)
{
    uint64_t best = 0;
    for (int step = opening - 1; step <= last; step++) {
        uint64_t bytes = level(step, ROWS).bytes;
        if (bytes > best) {
            best = bytes;
            *at = step;
        }
    }
    return best;
}

static void decide(struct ridge *r, struct life *l, int opening, int last)
{
    if (l->group != RIDGE_NONE && l->counts && l->died >= opening)
        ridge_count(r, l->group, l->row, (struct weight){1, l->size}, (uint64_t)l->born,
                    l->died == NEVER || l->died > last);
    if (l->group != RIDGE_NONE)
        ridge_drop(r, l->group);
}

static void be_born(struct ridge *r, int step, int opening, int last, unsigned sizes)
{
    struct life *l = &lives[life_count++];
    *l = (struct life){.size = any(sizes),
                       .row = (uint32_t)any(ROWS),
                       .group = RIDGE_NONE,
                       .born = step,
                       .died = NEVER,
                       .counts = any(3) != 0};
    if (step < opening)
        l->group = ridge_birth_before(r, l->size);
    else if (step <= last)
        l->group = ridge_birth(r, l->size);
}

/* Lives of a process; moments from `opening` to `last` may be the peak. */
static void live_and_compare(int steps, int opening, int last, unsigned live_max, unsigned sizes)
{
    struct ridge r;
    struct tally t;
    size_t live[BLOCKS_MAX];
    size_t count = 0;
    life_count = 0;
    assert_true(tally_init(&t, SPLIT_NONE, ROWS));
    assert_true(ridge_init(&r, &t, (uint64_t)opening));
    for (int step = 1; step <= steps; step++) {
        if (count == 0 || (count < live_max && any(100) < 55)) {
            be_born(&r, step, opening, last, sizes);
            live[count++] = life_count - 1;
            continue;
        }
        size_t at = (size_t)any(count);
        struct life *l = &lives[live[at]];
        live[at] = live[--count];
        l->died = step;
        decide(&r, l, opening, last);
    }
    for (size_t i = 0; i < count; i++)
        decide(&r, &lives[live[i]], opening, last);
    ridge_finish(&r);
    assert_false(r.failed || r.is_over);
    assert_int_equal(r.blocks, 0);

    int at = 0;
    uint64_t peak = find_peak(opening, last < steps ? last : steps, &at);
    assert_int_equal(t.level.peak_bytes, peak);
    assert_int_equal(t.level.peak_time_ns, peak == 0 ? 0 : at < opening ? opening : at);
    for (uint32_t row = 0; row < ROWS; row++) {
        struct weight right = peak == 0 ? (struct weight){0, 0} : level(at, row);
        assert_int_equal(t.rows.data[row].peak_bytes, right.bytes);
        assert_int_equal(t.rows.data[row].peak_blocks, right.blocks);
    }
    ridge_release(&r);
    tally_release(&t);
}

static void the_peak_is_that_of_the_definition(void **state)
{
    (void)state;
    for (seed = 1; seed <= 3000 * 2; seed += 2) {
        uint64_t was = seed;
        int steps = 1 + (int)any(60);
        live_and_compare(steps, 1, NEVER, 1 + (unsigned)any(12), 2 + (unsigned)any(40));
        seed = was;
    }
}

static void a_window_has_a_peak_of_its_own(void **state)
{
    (void)state;
    for (seed = 1; seed <= 3000 * 2; seed += 2) {
        uint64_t was = seed;
        int steps = 2 + (int)any(60), opening = 1 + (int)any((uint64_t)steps);
        int last = opening + (int)any((uint64_t)(steps - opening) + 1);
        live_and_compare(steps, opening, last, 1 + (unsigned)any(12), 2 + (unsigned)any(9));
        seed = was;
    }
}

/* Long enough for lists to be tidied, groups to be used again and long ways to be halved. */
static void long_runs_and_many_blocks(void **state)
{
    (void)state;
    for (seed = 1; seed <= 16; seed += 2) {
        uint64_t was = seed;
        live_and_compare(4500, 1, NEVER, 20 + (unsigned)any(700), was % 4 == 1 ? 2 : 1000);
        seed = was;
    }
}

/* Memory goes by what is live, not by what has been. */
static void memory_does_not_grow_with_time(void **state)
{
    (void)state;
    struct ridge r;
    struct tally t;
    uint32_t groups[64] = {0}, rows[64];
    assert_true(tally_init(&t, SPLIT_NONE, ROWS));
    assert_true(ridge_init(&r, &t, 0));
    seed = 1;
    for (uint64_t i = 0; i < 200000; i++) {
        size_t at = (size_t)any(64);
        if (i >= 64) {
            if (any(2) == 0)
                ridge_count(&r, groups[at], rows[at], (struct weight){1, 100}, i, false);
            ridge_drop(&r, groups[at]);
        } else {
            at = (size_t)i;
        }
        rows[at] = (uint32_t)any(ROWS);
        groups[at] = ridge_birth(&r, 100);
    }
    assert_int_equal(r.blocks, 64);
    assert_true(r.groups.count < 1000);
    assert_true(r.entries.count < 10000);
    ridge_release(&r);
    tally_release(&t);
}

static void too_many_blocks_are_refused(void **state)
{
    (void)state;
    struct ridge r;
    struct tally t;
    assert_true(tally_init(&t, SPLIT_NONE, ROWS));
    assert_true(ridge_init(&r, &t, 0));
    for (unsigned i = 0; i < RIDGE_BLOCKS; i++)
        (void)ridge_birth(&r, 1);
    assert_false(r.is_over);
    (void)ridge_birth(&r, 1);
    assert_true(r.is_over);
    ridge_release(&r);
    tally_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_peak_is_that_of_the_definition),
        cmocka_unit_test(a_window_has_a_peak_of_its_own),
        cmocka_unit_test(long_runs_and_many_blocks),
        cmocka_unit_test(memory_does_not_grow_with_time),
        cmocka_unit_test(too_many_blocks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

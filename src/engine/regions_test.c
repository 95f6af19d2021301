/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "engine/regions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* "10-20:1 30-40:2": what is there, or the pieces that went. */
struct story {
    char text[512];
};

static void story_add(struct story *s, const struct region *r)
{
    size_t length = strlen(s->text);
    snprintf(s->text + length, sizeof s->text - length, "%s%llu-%llu:%llu", length == 0 ? "" : " ",
             (unsigned long long)r->start, (unsigned long long)r->end, (unsigned long long)r->value);
}

static bool story_cut(void *of, const struct region *piece)
{
    story_add(of, piece);
    return true;
}

static void expect_is(const struct regions *r, const char *expected)
{
    struct story s = {""};
    for (size_t i = 0; i < r->list.count; i++)
        story_add(&s, &r->list.data[i]);
    assert_string_equal(s.text, expected);
}

/* Two ranges, 20-40:1 and 60-80:2; another comes over them, or takes them away. */
static const struct {
    const char *what;
    uint64_t start, end;
    const char *inserted, *removed, *cut;
} cases[] = {
    {"before everything", 0, 10, "0-10:9 20-40:1 60-80:2", "20-40:1 60-80:2", ""},
    {"up to a start", 10, 20, "10-20:9 20-40:1 60-80:2", "20-40:1 60-80:2", ""},
    {"between the two, touching both", 40, 60, "20-40:1 40-60:9 60-80:2", "20-40:1 60-80:2", ""},
    {"between the two, touching none", 45, 55, "20-40:1 45-55:9 60-80:2", "20-40:1 60-80:2", ""},
    {"from an end on", 80, 90, "20-40:1 60-80:2 80-90:9", "20-40:1 60-80:2", ""},
    {"over a start", 10, 30, "10-30:9 30-40:1 60-80:2", "30-40:1 60-80:2", "20-30:1"},
    {"over an end", 30, 50, "20-30:1 30-50:9 60-80:2", "20-30:1 60-80:2", "30-40:1"},
    {"out of the middle", 25, 35, "20-25:1 25-35:9 35-40:1 60-80:2", "20-25:1 35-40:1 60-80:2", "25-35:1"},
    {"from the very start", 20, 30, "20-30:9 30-40:1 60-80:2", "30-40:1 60-80:2", "20-30:1"},
    {"to the very end", 30, 40, "20-30:1 30-40:9 60-80:2", "20-30:1 60-80:2", "30-40:1"},
    {"exactly", 20, 40, "20-40:9 60-80:2", "60-80:2", "20-40:1"},
    {"the whole and more", 10, 50, "10-50:9 60-80:2", "60-80:2", "20-40:1"},
    {"an end and a start", 30, 70, "20-30:1 30-70:9 70-80:2", "20-30:1 70-80:2", "30-40:1 60-70:2"},
    {"one as a whole, the next in part", 10, 70, "10-70:9 70-80:2", "70-80:2", "20-40:1 60-70:2"},
    {"everything", 0, 90, "0-90:9", "", "20-40:1 60-80:2"},
};

/* What stands there already gets another value where it is, unless it joins a neighbour by that. */
static void the_same_range_again(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        const char *expected;
    } again[] = {{9, "20-40:1 40-60:9 60-80:3"},
                 {2, "20-40:1 40-60:2 60-80:3"},
                 {1, "20-60:1 60-80:3"},
                 {3, "20-40:1 40-80:3"}};
    for (size_t i = 0; i < sizeof again / sizeof *again; i++) {
        struct regions r;
        struct story s = {""};
        regions_init(&r);
        for (uint64_t n = 1; n <= 3; n++)
            assert_true(regions_insert(&r, n * 20, n * 20 + 20, n, NULL, NULL));
        assert_true(regions_insert(&r, 40, 60, again[i].value, story_cut, &s));
        expect_is(&r, again[i].expected);
        assert_string_equal(s.text, "40-60:2");
        regions_release(&r);
    }
}

static void the_fifteen_ways_to_overlap(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int inserts = 0; inserts < 2; inserts++) {
            struct regions r;
            struct story s = {""};
            regions_init(&r);
            assert_true(regions_insert(&r, 60, 80, 2, NULL, NULL));
            assert_true(regions_insert(&r, 20, 40, 1, NULL, NULL));
            if (inserts)
                assert_true(regions_insert(&r, cases[i].start, cases[i].end, 9, story_cut, &s));
            else
                assert_true(regions_remove(&r, cases[i].start, cases[i].end, story_cut, &s));
            expect_is(&r, inserts ? cases[i].inserted : cases[i].removed);
            assert_string_equal(s.text, cases[i].cut);
            regions_release(&r);
        }
    }
}

static void neighbours_of_one_value_are_one(void **state)
{
    struct regions r;
    (void)state;
    regions_init(&r);
    assert_true(regions_insert(&r, 10, 20, 1, NULL, NULL));
    assert_true(regions_insert(&r, 30, 40, 1, NULL, NULL));
    assert_true(regions_insert(&r, 20, 30, 1, NULL, NULL));
    expect_is(&r, "10-40:1");
    assert_true(regions_insert(&r, 40, 50, 2, NULL, NULL));
    assert_true(regions_insert(&r, 0, 10, 1, NULL, NULL));
    assert_true(regions_insert(&r, 35, 45, 1, NULL, NULL));
    expect_is(&r, "0-45:1 45-50:2");
    assert_true(regions_insert(&r, 7, 7, 3, NULL, NULL));
    assert_true(regions_remove(&r, 9, 3, NULL, NULL));
    expect_is(&r, "0-45:1 45-50:2");
    regions_release(&r);
}

/* ------------------------------------- against one value for every address */

enum { SLOW_SIZE = 200 };

static uint8_t slow[SLOW_SIZE];
static uint8_t slow_cut[SLOW_SIZE]; /* value that the pieces said goes from here */

static bool slow_take(void *of, const struct region *piece)
{
    (void)of;
    assert_true(piece->start < piece->end && piece->end <= SLOW_SIZE);
    for (uint64_t a = piece->start; a < piece->end; a++) {
        assert_int_equal(slow_cut[a], 0);
        slow_cut[a] = (uint8_t)piece->value;
    }
    return true;
}

static void slow_compare(const struct regions *r)
{
    uint8_t seen[SLOW_SIZE] = {0};
    for (size_t i = 0; i < r->list.count; i++) {
        const struct region *g = &r->list.data[i];
        assert_true(g->start < g->end && g->end <= SLOW_SIZE);
        if (i > 0) {
            assert_true(g[-1].end <= g->start);
            assert_true(g[-1].end < g->start || g[-1].value != g->value);
        }
        for (uint64_t a = g->start; a < g->end; a++)
            seen[a] = (uint8_t)g->value;
    }
    assert_memory_equal(seen, slow, SLOW_SIZE);
    for (uint64_t a = 0; a < SLOW_SIZE; a++) {
        size_t at = regions_find(r, a);
        bool inside = at < r->list.count && r->list.data[at].start <= a;
        assert_int_equal(inside ? r->list.data[at].value : 0, slow[a]);
    }
}

static void random_changes_are_those_of_a_slow_model(void **state)
{
    uint64_t seed = 88172645463325252u;
    struct regions r;
    (void)state;
    regions_init(&r);
    for (int round = 0; round < 20000; round++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        uint64_t start = seed % SLOW_SIZE, length = (seed >> 20) % ((seed >> 40) % 4 == 0 ? SLOW_SIZE : 12);
        uint64_t end = start + length > SLOW_SIZE ? SLOW_SIZE : start + length;
        uint8_t value = (uint8_t)(1 + (seed >> 32) % 3), goes[SLOW_SIZE] = {0};
        bool inserts = (seed >> 50) % 5 < 3;
        memset(slow_cut, 0, sizeof slow_cut);
        for (uint64_t a = start; a < end; a++) {
            goes[a] = slow[a];
            slow[a] = inserts ? value : 0;
        }
        if (inserts)
            assert_true(regions_insert(&r, start, end, value, slow_take, NULL));
        else
            assert_true(regions_remove(&r, start, end, slow_take, NULL));
        assert_memory_equal(slow_cut, goes, SLOW_SIZE);
        slow_compare(&r);
    }
    regions_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fifteen_ways_to_overlap),
        cmocka_unit_test(the_same_range_again),
        cmocka_unit_test(neighbours_of_one_value_are_one),
        cmocka_unit_test(random_changes_are_those_of_a_slow_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

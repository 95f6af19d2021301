/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of stretches: a few by hand, and random ones against the runs of pages that are there behind
 * every call.
 */
#include "analysis/stretches.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define P UINT64_C(4096)

enum { PAGES = 64, ROUNDS = 300, STRETCHES = 4 * PAGES };

static void cut(struct mapping *m, uint64_t call, uint64_t page, uint64_t pages)
{
    const struct maps_removal r = {
        .time_ns = call * 10, .call = call, .start = page * P, .end = (page + pages) * P};
    assert_true(vec_push(&m->removals, r));
}

/* "10+5 0-20, 11+4 20-": pages and times; those that are left have no end. */
static void expect(const struct mapping *m, const char *story)
{
    char text[512] = "";
    struct stretches s;
    size_t n = 0;
    stretches_init(&s);
    assert_true(stretches_set(&s, m));
    for (size_t i = 0; i < s.list.count; i++) {
        const struct stretch *x = &s.list.data[i];
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%llu+%llu %llu-", i == 0 ? "" : ", ",
                              (unsigned long long)(x->start / P),
                              (unsigned long long)((x->end - x->start) / P), (unsigned long long)x->from_ns);
        if (!x->is_left)
            n += (size_t)snprintf(text + n, sizeof text - n, "%llu", (unsigned long long)x->to_ns);
    }
    assert_string_equal(text, story);
    stretches_release(&s);
}

static void what_is_cut_ends_and_the_rest_begins(void **state)
{
    struct mapping m = {.start = 10 * P, .end = 20 * P, .made_ns = 3};
    (void)state;
    expect(&m, "10+10 3-");
    cut(&m, 1, 10, 1);
    expect(&m, "10+10 3-10, 11+9 10-");
    cut(&m, 2, 14, 2);
    expect(&m, "10+10 3-10, 11+9 10-20, 11+3 20-, 16+4 20-");
    cut(&m, 3, 19, 1);
    cut(&m, 4, 11, 3);
    expect(&m, "10+10 3-10, 11+9 10-20, 11+3 20-40, 16+4 20-30, 16+3 30-");
    cut(&m, 5, 16, 3);
    expect(&m, "10+10 3-10, 11+9 10-20, 11+3 20-40, 16+4 20-30, 16+3 30-50");
    vec_release(&m.removals);
}

static void one_call_may_take_several_pieces(void **state)
{
    struct mapping m = {.start = 0, .end = 10 * P, .made_ns = 1};
    (void)state;
    cut(&m, 1, 2, 1);
    cut(&m, 1, 5, 1);
    expect(&m, "0+10 1-10, 0+2 10-, 3+2 10-, 6+4 10-");
    cut(&m, 2, 0, 2);
    cut(&m, 2, 3, 2);
    expect(&m, "0+10 1-10, 0+2 10-20, 3+2 10-20, 6+4 10-");
    vec_release(&m.removals);
}

static void removals_that_make_no_sense_do_no_harm(void **state)
{
    struct mapping m = {.start = 10 * P, .end = 20 * P, .made_ns = 1};
    (void)state;
    cut(&m, 1, 12, 2);
    cut(&m, 2, 12, 2);
    cut(&m, 3, 5, 10);
    cut(&m, 4, 19, 5);
    expect(&m, "10+10 1-10, 10+2 10-, 14+6 10-");
    vec_release(&m.removals);
}

/* ------------------------------------------------------------------- random */

struct model {
    bool pages[PAGES];
    struct stretch list[STRETCHES];
    size_t count;
};

/* The run at a page: its end; the page itself: none. */
static uint64_t run_end(const bool *pages, uint64_t page)
{
    while (page < PAGES && pages[page])
        page++;
    return page;
}

static void model_note(struct model *m, uint64_t call)
{
    for (size_t i = 0; i < m->count; i++) {
        struct stretch *x = &m->list[i];
        uint64_t first = x->start / P, end = x->end / P;
        bool is_whole = run_end(m->pages, first) == end && (first == 0 || !m->pages[first - 1]);
        if (x->is_left && !is_whole) {
            x->is_left = false;
            x->to_ns = call * 10;
        }
    }
    for (uint64_t p = 0; p < PAGES; p++) {
        uint64_t end = run_end(m->pages, p);
        bool is_known = end == p;
        for (size_t i = 0; i < m->count; i++)
            is_known |= m->list[i].is_left && m->list[i].start == p * P;
        if (!is_known)
            m->list[m->count++] = (struct stretch){p * P, end * P, call * 10, 0, true, call};
        p = end > p ? end - 1 : p;
    }
}

static void random_ones_are_those_of_a_slow_model(void **state)
{
    uint64_t seed = 99;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        static struct model model;
        struct mapping m = {.start = 0, .end = PAGES * P};
        struct stretches s;
        memset(&model, 0, sizeof model);
        memset(model.pages, 1, sizeof model.pages);
        model_note(&model, 0);
        for (uint64_t call = 1; call < 20; call++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            uint64_t first = (seed >> 33) % PAGES, last = first + 1 + (seed >> 50) % 12;
            last = last > PAGES ? PAGES : last;
            for (uint64_t p = first; p < last; p++) {
                uint64_t end = run_end(model.pages, p);
                end = end > last ? last : end;
                if (end == p)
                    continue;
                cut(&m, call, p, end - p);
                memset(model.pages + p, 0, end - p);
                p = end - 1;
            }
            model_note(&model, call);
        }
        stretches_init(&s);
        assert_true(stretches_set(&s, &m));
        assert_int_equal(s.list.count, model.count);
        for (size_t i = 0; i < model.count; i++) {
            const struct stretch *x = &s.list.data[i], *right = &model.list[i];
            assert_true(x->start == right->start && x->end == right->end && x->from_ns == right->from_ns &&
                        x->is_left == right->is_left && (x->is_left || x->to_ns == right->to_ns));
        }
        stretches_release(&s);
        vec_release(&m.removals);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_cut_ends_and_the_rest_begins),
        cmocka_unit_test(one_call_may_take_several_pieces),
        cmocka_unit_test(removals_that_make_no_sense_do_no_harm),
        cmocka_unit_test(random_ones_are_those_of_a_slow_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * parse_test: what keys and values do to a query, and what is said about
 * those that make no sense.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "engine/parse.h"
#include "engine/quantity.h"
#include "wire/record.h"

static void sizes_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},
                {"4096", 4096},
                {"4K", 4096},
                {"4k", 4096},
                {"1.5MiB", 1572864},
                {"2GB", 2000000000},
                {"1 KiB", 1024},
                {"0.5T", UINT64_C(1) << 39},
                {"18446744073709551615", UINT64_MAX}};
    static const char *const bad[] = {
        "",     "K",   "-1",  "1.",  ".5",  "4X",  "4KK", "18446744073709551616", "99999999999T",
        "0x10", "1e3", "inf", "4K ", "1.5", "1.5B"};
    uint64_t bytes;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(quantity_size(good[i].text, &bytes));
        assert_int_equal(bytes, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(quantity_size(bad[i], &bytes));
}

static void durations_have_units(void **state)
{
    (void)state;
    uint64_t ns;
    assert_true(quantity_duration("250ns", &ns) && ns == 250);
    assert_true(quantity_duration("10us", &ns) && ns == 10000);
    assert_true(quantity_duration("1.25ms", &ns) && ns == 1250000);
    assert_true(quantity_duration("3", &ns) && ns == UINT64_C(3000000000));
    assert_true(quantity_duration("5min", &ns) && ns == UINT64_C(300000000000));
    assert_true(quantity_duration("0.000000001s", &ns) && ns == 1);
    assert_true(quantity_duration("4h3m2s", &ns) && ns == UINT64_C(14582000000000));
    assert_true(quantity_duration("1d2h3min4s5ms6us7ns", &ns) && ns == UINT64_C(93784005006007));
    assert_true(quantity_duration("1m30s", &ns) && ns == UINT64_C(90000000000));
    assert_false(quantity_duration("2s1h", &ns));
    assert_false(quantity_duration("1h1h", &ns));
    assert_false(quantity_duration("1h2", &ns));
    assert_false(quantity_duration("1.5h30m", &ns));
    assert_false(quantity_duration("1h ", &ns));
    assert_false(quantity_duration("213503d24h", &ns));
    assert_false(quantity_duration("5m", &ns));
    assert_false(quantity_duration("-5s", &ns));
    assert_false(quantity_duration("9999999999h", &ns));
}

static void dates_are_of_this_place_or_of_utc(void **state)
{
    static const char *const bad[] = {
        "2026-11-15",        "2026-11-15 24:00",  "2026-02-30 10:00",    "2026-11-15 10:60",
        "2026-11-15 10:00:", "2026-11-15 10:0",   "2026-11-15 10:00:61", "2026-13-01 10:00",
        "2026-1-15 10:00",   "2026-11-15 10:00x", "2026-11-15 10:00.5",  "2026-11-15 10:00:05.",
        "1815-06-18 11:35Z", "2026-00-10 10:00",  "2026-11-15 10:00:5",  "2026-11-15 10:00ZZ",
        "2026-11-15x10:00",  "2026-11-00 10:00",  "+026-11-15 10:00:05", ""};
    uint64_t ns, local;
    (void)state;
    assert_true(quantity_date("1970-01-02 00:00Z", &ns) && ns == UINT64_C(86400000000000));
    assert_true(quantity_date("2026-11-15T23:40:05.125Z", &ns) && ns == UINT64_C(1794786005125000000));
    assert_true(quantity_date("2026-11-15 23:40:05.000000001z", &ns) && ns == UINT64_C(1794786005000000001));
    assert_true(quantity_date("2024-02-29 12:00:00Z", &ns) && ns == UINT64_C(1709208000000000000));
    setenv("TZ", "HERE-3", 1); /* three hours before UTC */
    tzset();
    assert_true(quantity_date("2026-11-15 23:40:05", &local) && quantity_date("2026-11-15 20:40:05Z", &ns));
    assert_int_equal(local, ns);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (quantity_date(bad[i], &ns))
            fail_msg("%s is no date.", bad[i]);
}

static void addresses_are_hexadecimal(void **state)
{
    (void)state;
    uint64_t address;
    assert_true(quantity_address("0x7fFF0012ab", &address) && address == 0x7fff0012ab);
    assert_true(quantity_address("10", &address) && address == 16);
    assert_true(quantity_address("ffffffffffffffff", &address) && address == UINT64_MAX);
    assert_false(quantity_address("0x", &address));
    assert_false(quantity_address("1ffffffffffffffff", &address));
    assert_false(quantity_address("12g", &address));
}

static void a_moment_is_a_time_a_share_or_a_mark(void **state)
{
    (void)state;
    struct query q;
    query_init(&q);
    assert_int_equal(query_parse(&q, "from", "1.5s", NULL), 0);
    assert_true(q.from.when == WHEN_NS && q.from.ns == 1500000000);
    assert_int_equal(query_parse(&q, "to", "30.5%", NULL), 0);
    assert_true(q.to.when == WHEN_PERCENT && fabs(q.to.percent - 30.5) < 1e-9);
    assert_int_equal(query_parse(&q, "alive-at", "after load", NULL), 0);
    assert_int_equal(q.filter.alive_at.when, WHEN_MARK);
    assert_string_equal(q.filter.alive_at.mark, "after load");
    assert_int_equal(query_parse(&q, "alive-at-2", "mark:10%", NULL), 0);
    assert_string_equal(q.filter.alive_at_2.mark, "10%");
    assert_int_equal(query_parse(&q, "at", "peak-rss", NULL), 0);
    assert_int_equal(q.moment.when, WHEN_PEAK_RSS);
    assert_int_equal(query_parse(&q, "to", "peak-rss", NULL), 0);
    assert_int_equal(q.to.when, WHEN_MARK);
    assert_int_equal(query_parse(&q, "to", "12parsecs", NULL), ERR_USAGE);
    assert_int_equal(query_parse(&q, "to", "", NULL), ERR_USAGE);
    assert_int_equal(query_parse(&q, "to", "-1s", NULL), ERR_USAGE);
    assert_int_equal(q.to.when, WHEN_MARK);
    query_release(&q);
}

static void lists_grow_and_words_are_checked(void **state)
{
    (void)state;
    struct query q;
    query_init(&q);
    assert_int_equal(query_parse(&q, "pid", "12,13", NULL), 0);
    assert_int_equal(query_parse(&q, "pid", "14", NULL), 0);
    assert_int_equal(q.pids.count, 3);
    assert_int_equal(query_parse(&q, "pid", "15,x", NULL), ERR_USAGE);
    assert_int_equal(q.pids.count, 3);
    assert_int_equal(query_parse(&q, "kind", "malloc,new", NULL), 0);
    assert_int_equal(q.filter.kinds, 1u << KIND_MALLOC | 1u << KIND_NEW | 1u << KIND_NEW_ALIGNED);
    assert_int_equal(query_parse(&q, "kind", "malloc,", NULL), ERR_USAGE);
    assert_int_equal(query_parse(&q, "state", "leaked,temporary", NULL), 0);
    assert_int_equal(q.filter.states, STATE_LEAKED | STATE_TEMPORARY);
    assert_int_equal(query_parse(&q, "thread", "1234", NULL), 0);
    assert_int_equal(query_parse(&q, "thread", "worker 3", NULL), 0);
    assert_true(q.filter.threads.count == 2 && q.filter.threads.data[0].tid == 1234);
    assert_string_equal(q.filter.threads.data[1].name, "worker 3");
    assert_int_equal(query_parse(&q, "temporary", "10ms", NULL), 0);
    assert_int_equal(q.temporary_ns, 10000000);
    assert_int_equal(query_parse(&q, "temporary", "3", NULL), 0);
    assert_true(q.temporary_ns == 0 && q.temporary_allocations == 3);
    assert_int_equal(query_parse(&q, "temporary", "0", NULL), ERR_USAGE);
    assert_int_equal(query_parse(&q, "not-module", "libc", NULL), 0);
    assert_true(q.filter.patterns.data[0].negated && q.filter.patterns.data[0].field == FIELD_MODULE);
    query_release(&q);
}

static void every_key_has_a_place_of_its_own(void **state)
{
    (void)state;
    static const char *const values[] = {"1",      "7",      "1K",  "7%", "inside", "leaked",
                                         "malloc", "thread", "yes", "a",  "main"};
    struct query_key key, other;
    for (size_t i = 0; query_get_key(i, &key); i++) {
        struct query before, after;
        query_init(&before);
        query_init(&after);
        bool taken = false;
        for (size_t k = 0; k < sizeof values / sizeof *values && !taken; k++) {
            bool fits = query_parse(&after, key.name, values[k], NULL) == 0;
            after.key_of_blocks = after.key_of_mappings = NULL;
            taken = fits && memcmp(&before, &after, sizeof before) != 0;
        }
        if (!taken)
            fail_msg("%s takes nothing.", key.name);
        for (size_t k = 0; k < i && query_get_key(k, &other); k++)
            assert_string_not_equal(key.name, other.name);
        query_release(&before);
        query_release(&after);
    }
}

static void words_know_what_they_are_asked_of(void **state)
{
    (void)state;
    struct query q;
    struct err err;
    query_init(&q);
    assert_int_equal(query_parse(&q, "size-min", "4K", &err), 0);
    assert_int_equal(query_parse(&q, "mapping", "3,4", &err), 0);
    assert_int_equal(query_parse(&q, "state", "freed,temporary", &err), 0);
    assert_int_equal(query_suits_blocks(&q, &err), 0);
    assert_int_equal(query_suits_mappings(&q, &err), 0);
    assert_int_equal(query_parse(&q, "state", "group-leaked", &err), 0);
    assert_int_equal(query_suits_mappings(&q, &err), ERR_USAGE);
    assert_string_equal(err.text,
                        "state=group-leaked is about blocks; of mappings (--maps) it makes no sense.");
    assert_int_equal(query_parse(&q, "state", "all", &err), 0);
    assert_int_equal(query_suits_mappings(&q, &err), 0);
    assert_int_equal(query_parse(&q, "chain-length-min", "x", &err), ERR_USAGE); /* was not taken */
    assert_int_equal(query_suits_mappings(&q, &err), 0);
    assert_int_equal(query_parse(&q, "chain-length-min", "2", &err), 0);
    assert_int_equal(query_suits_mappings(&q, &err), ERR_USAGE);
    assert_int_equal(query_suits_blocks(&q, &err), 0);
    assert_int_equal(query_parse(&q, "writable", "no", &err), 0);
    assert_int_equal(query_suits_blocks(&q, &err), ERR_USAGE);
    query_release(&q);
}

static void rights_are_asked_for_one_by_one(void **state)
{
    (void)state;
    struct query q;
    query_init(&q);
    assert_int_equal(query_parse(&q, "readable", "yes", NULL), 0);
    assert_int_equal(query_parse(&q, "executable", "no", NULL), 0);
    assert_int_equal(q.filter.rights, WAKE_READ);
    assert_int_equal(q.filter.no_rights, WAKE_EXECUTE);
    assert_int_equal(query_parse(&q, "readable", "no", NULL), 0);
    assert_int_equal(q.filter.rights, 0);
    assert_int_equal(q.filter.no_rights, WAKE_READ | WAKE_EXECUTE);
    assert_int_equal(query_parse(&q, "executable", "any", NULL), 0);
    assert_int_equal(q.filter.no_rights, WAKE_READ);
    assert_int_equal(query_parse(&q, "readable", "maybe", NULL), ERR_USAGE);
    query_release(&q);
}

static void mistakes_are_explained(void **state)
{
    (void)state;
    struct query q;
    struct err err;
    query_init(&q);
    assert_int_equal(query_parse(&q, "size-mim", "4K", &err), ERR_USAGE);
    assert_string_equal(err.text, "There is no filter called \"size-mim\"; near it are: size-min, size-max.");
    assert_int_equal(query_parse(&q, "chain", "4K", &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "chain-length-min, chain-length-max"));
    assert_int_equal(query_parse(&q, "wumpus", "4K", &err), ERR_USAGE);
    assert_string_equal(err.text, "There is no filter called \"wumpus\".");
    assert_int_equal(query_parse(&q, "size-min", "big", &err), ERR_USAGE);
    assert_string_equal(err.text,
                        "\"big\" is no value for size-min, which takes SIZE (at least: size asked for).");
    assert_int_equal(query_parse(&q, "function", "(", &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "'(' is not a regular expression: "));
    assert_int_equal(q.filter.patterns.count, 0);
    query_release(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_have_units),
        cmocka_unit_test(durations_have_units),
        cmocka_unit_test(dates_are_of_this_place_or_of_utc),
        cmocka_unit_test(addresses_are_hexadecimal),
        cmocka_unit_test(a_moment_is_a_time_a_share_or_a_mark),
        cmocka_unit_test(lists_grow_and_words_are_checked),
        cmocka_unit_test(every_key_has_a_place_of_its_own),
        cmocka_unit_test(words_know_what_they_are_asked_of),
        cmocka_unit_test(rights_are_asked_for_one_by_one),
        cmocka_unit_test(mistakes_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

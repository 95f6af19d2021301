/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "collect/smaps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct seen {
    char text[4096];
    size_t count, limit;
};

static bool see(void *of, const struct wake_usage *u)
{
    struct seen *s = of;
    size_t length = strlen(s->text);
    snprintf(s->text + length, sizeof s->text - length, "%llx-%llx %u %llu %llu %llu '%s'\n",
             (unsigned long long)u->start, (unsigned long long)u->end, u->rights,
             (unsigned long long)u->rss_bytes, (unsigned long long)u->anonymous_bytes,
             (unsigned long long)u->swap_bytes, u->name);
    return ++s->count != s->limit;
}

static void expect(const char *text, bool is_sound, const char *ranges)
{
    struct seen s = {0};
    assert_int_equal(smaps_parse(text, strlen(text), see, &s), is_sound);
    assert_string_equal(s.text, ranges);
}

static void ranges_have_rights_names_and_figures(void **state)
{
    (void)state;
    expect("55d0c000-55d0e000 r-xp 00000000 08:01 1048602                    /usr/bin/my app\n"
           "Size:                  8 kB\nRss:                   8 kB\nPss:                   2 kB\n"
           "Anonymous:             0 kB\nSwap:                  0 kB\nSwapPss:               0 kB\n"
           "VmFlags: rd ex mr mw me \n"
           "7f0c00000000-7f0c00021000 rw-p 00000000 00:00 0                  [anon:cache of things]\n"
           "Rss:                  72 kB\nAnonymous:            68 kB\nSwap:                 12 kB\n"
           "7f0c00021000-7f0c00022000 ---s 00000000 00:00 0 \nRss:                   0 kB\n"
           "7f0c00022000-7f0c00023000 rw-p 00000000 00:05 7      /a\\012b (deleted)\nRss: 4 kB\n",
           true,
           "55d0c000-55d0e000 5 8192 0 0 '/usr/bin/my app'\n"
           "7f0c00000000-7f0c00021000 3 73728 69632 12288 '[anon:cache of things]'\n"
           "7f0c00021000-7f0c00022000 8 0 0 0 ''\n"
           "7f0c00022000-7f0c00023000 3 4096 0 0 '/a\nb (deleted)'\n");
    expect("", true, "");
    expect("1000-2000 rw-p 0 0:0 0\nRss: 4 kB", true, "1000-2000 3 4096 0 0 ''\n");
}

static void figures_are_never_more_than_there_is_room_for(void **state)
{
    (void)state;
    expect("1000-3000 rw-p 0 0:0 0\nRss: 99999999999999999999999 kB\nAnonymous: 88888888888888888888888 kB\n"
           "Swap: 77777777777777777777777 kB\n",
           true, "1000-3000 3 8192 8192 8192 ''\n");
    expect("1000-3000 rw-p 0 0:0 0\nRss: none\nSwap:\nAnonymous: -4 kB\n", true, "1000-3000 3 0 0 0 ''\n");
    expect("1000-1000 rw-p 0 0:0 0\nRss: 4 kB\n", true, "");
}

static void ranges_that_go_back_or_are_the_kernels_are_left_out(void **state)
{
    (void)state;
    expect("3000-4000 rw-p 0 0:0 0\nRss: 4 kB\n1000-2000 rw-p 0 0:0 0\nRss: 4 kB\n3800-5000 rw-p 0 0:0 0\n"
           "4000-5000 r--p 0 0:0 0\nffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\nRss: "
           "0 kB\n",
           true, "3000-4000 3 4096 0 0 ''\n4000-5000 1 0 0 0 ''\n");
}

static void what_is_no_smaps_ends_it(void **state)
{
    (void)state;
    expect("Rss: 4 kB\n", false, "");
    expect("hello\n", false, "");
    expect("1000-2000 rw-p 0 0:0 0\nRss: 4 kB\nwhat is this\n3000-4000 rw-p 0 0:0 0\n", false,
           "1000-2000 3 4096 0 0 ''\n");
    expect("2000-1000 rw-p 0 0:0 0\n", false, "");
    expect("1000-2000\n", false, "");
}

static void names_are_cut_where_they_are_too_long(void **state)
{
    static char text[3 * SMAPS_NAME_MAX];
    struct seen s = {0};
    (void)state;
    size_t length = (size_t)snprintf(text, sizeof text, "1000-2000 rw-p 0 0:0 0 /");
    memset(text + length, 'x', (size_t)2 * SMAPS_NAME_MAX);
    assert_true(smaps_parse(text, length + (size_t)2 * SMAPS_NAME_MAX, see, &s));
    assert_int_equal(s.count, 1);
}

static void who_has_enough_gets_no_more(void **state)
{
    struct seen s = {.limit = 1};
    const char *text = "1000-2000 rw-p 0 0:0 0\n2000-3000 r--p 0 0:0 0\n";
    (void)state;
    assert_false(smaps_parse(text, strlen(text), see, &s));
    assert_int_equal(s.count, 1);
}

static bool find(void *of, const struct wake_usage *u)
{
    struct wake_usage *wanted = of;
    if (u->start <= wanted->start && wanted->end <= u->end) {
        wanted->rss_bytes = u->rss_bytes;
        wanted->rights = u->rights;
    }
    return true;
}

static void our_own_can_be_read(void **state)
{
    (void)state;
    enum { SIZE = 64 << 12 };
    char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    memset(at, 1, SIZE);
    struct wake_usage wanted = {.start = (uintptr_t)at, .end = (uintptr_t)at + SIZE};
    assert_true(smaps_read((uint32_t)getpid(), find, &wanted));
    assert_int_equal(wanted.rights, WAKE_READ | WAKE_WRITE);
    assert_in_range(wanted.rss_bytes, SIZE, UINT64_MAX);
    assert_false(smaps_read(UINT32_MAX, find, &wanted));
    munmap(at, SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_have_rights_names_and_figures),
        cmocka_unit_test(figures_are_never_more_than_there_is_room_for),
        cmocka_unit_test(ranges_that_go_back_or_are_the_kernels_are_left_out),
        cmocka_unit_test(what_is_no_smaps_ends_it),
        cmocka_unit_test(names_are_cut_where_they_are_too_long),
        cmocka_unit_test(who_has_enough_gets_no_more),
        cmocka_unit_test(our_own_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

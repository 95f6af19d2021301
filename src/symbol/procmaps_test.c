/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/procmaps.h"

static int parse(struct procmaps *m, const char *text, struct err *err)
{
    procmaps_init(m);
    return procmaps_parse(m, text, strlen(text), "maps", err);
}

static void mappings_of_a_file_are_one_module(void **state)
{
    (void)state;
    struct procmaps m;
    assert_int_equal(
        0, parse(&m,
                 "55d0c000-55d0e000 r--p 00000000 08:01 1048602                    /usr/bin/my app\n"
                 "55d0e000-55d12000 r-xp 00002000 08:01 1048602                    /usr/bin/my app\n"
                 "55d12000-55d14000 rw-p 00006000 08:01 1048602                    /usr/bin/my app\n"
                 "55d14000-55d15000 rw-p 00000000 00:00 0 \n"
                 "55e00000-55e21000 rw-p 00000000 00:00 0                          [heap]\n"
                 "7f000000-7f010000 r--s 00000000 08:01 77                         /usr/share/data\n"
                 "7fff1000-7fff3000 r-xp 00000000 00:00 0                          [vdso]\n",
                 NULL));
    assert_int_equal(2, m.modules.count);
    const struct procmaps_module *app = &m.modules.data[0];
    assert_string_equal("/usr/bin/my app", app->path);
    assert_int_equal(0x55d0c000, app->start);
    assert_int_equal(0x55d14000, app->end);
    assert_int_equal(0x55d0e000, app->code_start);
    assert_int_equal(0x2000, app->code_offset);
    assert_string_equal("[vdso]", m.modules.data[1].path);
    procmaps_release(&m);
}

static void a_file_loaded_twice_is_two_modules(void **state)
{
    (void)state;
    struct procmaps m;
    assert_int_equal(
        0, parse(&m,
                 "1000-2000 r-xp 00000000 08:01 5 /lib/a.so\n2000-3000 rw-p 00001000 08:01 5 /lib/a.so\n"
                 "5000-6000 r-xp 00000000 08:01 5 /lib/a.so\n6000-7000 rw-p 00001000 08:01 5 /lib/a.so",
                 NULL));
    assert_int_equal(2, m.modules.count);
    assert_int_equal(0x3000, m.modules.data[0].end);
    assert_int_equal(0x5000, m.modules.data[1].start);
    assert_int_equal(0x7000, m.modules.data[1].end);
    procmaps_release(&m);
}

static void details_of_smaps_are_skipped(void **state)
{
    (void)state;
    struct procmaps m;
    assert_int_equal(0, parse(&m,
                              "1000-2000 r-xp 00000000 08:01 5 /lib/a\\012b.so (deleted)\n"
                              "Size:                  4 kB\nVmFlags: rd ex mr mw me\n",
                              NULL));
    assert_int_equal(1, m.modules.count);
    assert_string_equal("/lib/a\nb.so (deleted)", m.modules.data[0].path);
    procmaps_release(&m);
}

static void nonsense_names_its_line(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "1000-2000 r-xp 00000000 08:01 5 /a\nnot a mapping\n",
        "1000-2000 r-xp 00000000 08:01 5 /a\n2000-1000 r-xp 00000000 08:01 5 /b\n",
        "1000-2000 r-xp 00000000 08:01 5 /a\n1000-2000 r-xp 0000000000000000000 08:01 5 /b\n",
        "1000-2000 r-xp 00000000 08:01 5 /a\n1000-2000 r-xp",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct procmaps m;
        struct err err;
        assert_int_equal(ERR_INPUT, parse(&m, texts[i], &err));
        assert_string_equal("Line 2 of maps is not one of /proc/PID/maps.", err.text);
        procmaps_release(&m);
    }
}

static void our_own_are_read(void **state)
{
    (void)state;
    struct procmaps m;
    procmaps_init(&m);
    assert_int_equal(0, procmaps_read(&m, "/proc/self/maps", NULL));
    uint64_t here = (uintptr_t)our_own_are_read;
    size_t found = 0;
    for (size_t i = 0; i < m.modules.count; i++)
        found += m.modules.data[i].start <= here && here < m.modules.data[i].end &&
                 strstr(m.modules.data[i].path, "procmaps_test") != NULL;
    assert_int_equal(1, found);
    procmaps_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mappings_of_a_file_are_one_module),
        cmocka_unit_test(a_file_loaded_twice_is_two_modules),
        cmocka_unit_test(details_of_smaps_are_skipped),
        cmocka_unit_test(nonsense_names_its_line),
        cmocka_unit_test(our_own_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

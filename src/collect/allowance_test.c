/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "collect/allowance.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

static char root[] = "/tmp/allowance-XXXXXX";

/* A file below the root, and the folders that it is in. */
static void put(const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = path + strlen(root); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
        *slash = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
    (void)state;
    if (mkdtemp(root) == NULL)
        return -1;
    put("a/memory.max", "67108864\n");
    put("a/b/memory.max", "max\n");
    put("a/b/memory.high", "33554432\n");
    put("a/b/c/memory.max", "1073741824\n");
    put("free/memory.max", "max\n");
    put("memory/old/memory.limit_in_bytes", "25165824\n");
    put("memory/old/inner/memory.limit_in_bytes", "9223372036854771712\n");
    put("memory/memory.limit_in_bytes", "134217728\n");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static void expect(const char *groups, uint64_t limit)
{
    assert_int_equal(allowance_limit(root, groups), limit);
}

static void the_least_limit_of_a_group_and_those_around_it_counts(void **state)
{
    (void)state;
    expect("0::/a\n", 64 * MIB);
    expect("0::/a/b\n", 32 * MIB);
    expect("0::/a/b/c\n", 32 * MIB);
    expect("0::/a/other\n", 64 * MIB);
    expect("0::/free\n", UINT64_MAX);
    expect("0::/\n", UINT64_MAX);
}

static void older_groups_have_a_hierarchy_for_memory(void **state)
{
    (void)state;
    expect("5:cpu:/a\n4:memory:/old\n0::/\n", 24 * MIB);
    expect("4:cpu,memory:/old/inner\n", 24 * MIB);
    expect("4:memory,cpu:/elsewhere\n", 128 * MIB);
    expect("4:memory_more:/old\n", UINT64_MAX);
    expect("4:memory:/old\n0::/a/b\n", 24 * MIB);
}

static void a_path_of_another_namespace_is_taken_as_the_top(void **state)
{
    (void)state;
    put("memory.max", "50331648");
    expect("0::/system.slice/docker-1234.scope\n", 48 * MIB);
    expect("0::/../../a\n", 48 * MIB);
    expect("4:memory:/../old\n", 128 * MIB);
}

static void what_makes_no_sense_is_no_limit(void **state)
{
    (void)state;
    char longest[ALLOWANCE_GROUPS_MAX];
    memset(longest, 'x', sizeof longest);
    memcpy(longest, "3:memory:/", 10);
    longest[sizeof longest - 1] = '\0';
    put("odd/memory.max", "much\n");
    put("empty/memory.max", "");
    put("memory.max", "max");
    expect("", UINT64_MAX);
    expect("memory", UINT64_MAX);
    expect("0:", UINT64_MAX);
    expect("\n\n::\n", UINT64_MAX);
    expect("0::/odd\n", UINT64_MAX);
    expect("0::/empty\n", UINT64_MAX);
    expect("0::a/b", UINT64_MAX);
    expect(longest, 128 * MIB);
}

static void buffers_are_a_part_of_little_memory(void **state)
{
    (void)state;
    assert_int_equal(allowance_of(UINT64_MAX), 32 * MIB);
    assert_int_equal(allowance_of(1024 * MIB), 32 * MIB);
    assert_int_equal(allowance_of(1024 * MIB - 1), 16 * MIB);
    assert_int_equal(allowance_of(256 * MIB), 16 * MIB);
    assert_int_equal(allowance_of(64 * MIB), 4 * MIB);
    assert_int_equal(allowance_of(16 * MIB), MIB);
    assert_int_equal(allowance_of(0), MIB);
}

static void a_process_is_asked_for_its_groups(void **state)
{
    (void)state;
    struct allowance a = {0};
    uint64_t bytes = allowance_find(&a, (uint32_t)getpid());
    assert_true(bytes >= ALLOWANCE_LEAST && bytes <= ALLOWANCE_USUAL);
    assert_int_equal(allowance_find(&a, (uint32_t)getpid()), bytes);
    assert_true(allowance_find(&a, UINT32_MAX) >= ALLOWANCE_LEAST); /* nobody: the machine's memory counts */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_limit_of_a_group_and_those_around_it_counts),
        cmocka_unit_test(older_groups_have_a_hierarchy_for_memory),
        cmocka_unit_test(a_path_of_another_namespace_is_taken_as_the_top),
        cmocka_unit_test(what_makes_no_sense_is_no_limit),
        cmocka_unit_test(buffers_are_a_part_of_little_memory),
        cmocka_unit_test(a_process_is_asked_for_its_groups),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

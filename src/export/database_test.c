/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of database: values arrive as they are, and the first error is the one told.
 */
#include "export/database.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

static void make_file(char *path)
{
    strcpy(path, "/tmp/database_test.XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
}

static void expect_text(const char *path, const char *sql, const char *expected)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(s, 0), expected);
    sqlite3_finalize(s);
    sqlite3_close(db);
}

static void values_arrive(void **state)
{
    char path[64];
    struct database d;
    struct err err;
    (void)state;
    make_file(path);
    database_open(&d, path);
    database_run(&d, "CREATE TABLE t (a INTEGER, b INTEGER, c TEXT, d TEXT)");
    int t = database_prepare(&d, "INSERT INTO t VALUES (?, ?, ?, ?)");
    database_insert(&d, t, "iott", UINT64_C(1) << 62, UINT64_MAX, "caf\xc3\xa9 '\"", (const char *)NULL);
    database_insert(&d, t, "iott", UINT64_C(7), UINT64_C(8), "bad \xff\xc3 end", "");
    assert_int_equal(database_close(&d, "the database", &err), 0);
    expect_text(path, "SELECT count(*) FROM t WHERE a = 4611686018427387904 AND b IS NULL AND d IS NULL",
                "1");
    expect_text(path, "SELECT c FROM t WHERE a > 7", "caf\xc3\xa9 '\"");
    expect_text(path, "SELECT c FROM t WHERE a = 7 AND d = ''", "bad \xef\xbf\xbd\xef\xbf\xbd end");
    unlink(path);
}

static void the_first_error_is_told(void **state)
{
    char path[64];
    struct database d;
    struct err err;
    (void)state;
    make_file(path);
    database_open(&d, path);
    database_run(&d, "CREATE TABLE");
    database_run(&d, "CREATE TABLE fine (a)");
    assert_true(database_has_failed(&d));
    database_insert(&d, database_prepare(&d, "INSERT INTO fine VALUES (?)"), "i", UINT64_C(1));
    assert_int_equal(database_close(&d, "the database", &err), ERR_IO);
    assert_non_null(strstr(err.text, "incomplete input"));
    unlink(path);
    database_open(&d, "/nowhere/at/all");
    assert_int_equal(database_close(&d, "the database", &err), ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_arrive),
        cmocka_unit_test(the_first_error_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/file.h"

static char folder[64];

static int setup(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/file_test.XXXXXX");
    return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink("new");
    unlink("pipe");
    return chdir("/") != 0 || rmdir(folder) != 0;
}

static void a_new_file_appears_whole(void **state)
{
    (void)state;
    struct file_new f;
    struct stat st;
    assert_int_equal(file_new_open(&f, "new", NULL), 0);
    assert_int_equal(file_write_all(f.fd, "12345", 5, NULL), 0);
    assert_int_equal(stat("new", &st), -1);
    assert_int_equal(file_new_publish(&f, NULL), 0);
    assert_int_equal(stat("new", &st), 0);
    assert_int_equal(st.st_size, 5);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(file_new_close(&f, NULL), 0);
}

static void what_is_not_published_leaves_nothing(void **state)
{
    (void)state;
    struct file_new f;
    struct stat st;
    assert_int_equal(file_new_open(&f, "never", NULL), 0);
    char *temp = strdup(f.temp);
    assert_int_equal(file_new_close(&f, NULL), 0);
    assert_int_equal(stat(temp, &st), -1);
    assert_int_equal(stat("never", &st), -1);
    assert_int_equal(file_new_close(&f, NULL), 0);
    free(temp);
}

static void standard_descriptors_are_not_taken(void **state)
{
    (void)state;
    struct file_new f;
    int fd, saved = dup(0);
    uint64_t size;
    close(0);
    assert_int_equal(file_new_open(&f, "new", NULL), 0);
    assert_true(f.fd > 2);
    assert_int_equal(file_new_publish(&f, NULL), 0);
    assert_int_equal(file_open(&fd, &size, "new", NULL), 0);
    assert_true(fd > 2);
    assert_int_not_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    assert_int_equal(fcntl(0, F_GETFD), -1);
    file_close(fd);
    file_new_close(&f, NULL);
    dup2(saved, 0);
    close(saved);
}

static void what_is_no_file_gets_one_sentence(void **state)
{
    (void)state;
    struct file_new f;
    struct err err;
    int fd;
    uint64_t size;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(file_open(&fd, &size, "pipe", &err), ERR_INPUT);
    assert_string_equal(err.text, "pipe is a pipe; a file is needed.");
    assert_int_equal(file_open(&fd, &size, ".", &err), ERR_INPUT);
    assert_int_equal(file_open(&fd, &size, "missing", &err), ERR_ABSENT);
    assert_string_equal(err.text, "missing cannot be opened: No such file or directory.");
    assert_int_equal(fd, -1);
    assert_int_equal(file_new_open(&f, "pipe", &err), ERR_INPUT);
    assert_int_equal(file_new_open(&f, ".", &err), ERR_INPUT);
    assert_int_equal(file_new_open(&f, "", &err), ERR_USAGE);
}

/* /dev/stdout and its like, made here: root would lose those of the machine. */
static void links_to_descriptors_are_not_replaced(void **state)
{
    (void)state;
    struct file_new f;
    struct err err;
    struct stat st;
    const char *const targets[] = {"/proc/self/fd/1", "/proc/self/fd/2000"};
    int saved = dup(1), fd = open("new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    dup2(fd, 1); /* a regular file */
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(symlink(targets[i], "link"), 0);
        int code = file_new_open(&f, "link", &err);
        assert_int_equal(lstat("link", &st), 0);
        unlink("link");
        if (code == 0)
            file_new_close(&f, NULL);
        assert_int_equal(code, ERR_INPUT);
        assert_string_equal(err.text, "link is not a regular file and is not replaced by one.");
    }
    dup2(saved, 1);
    close(saved);
    close(fd);
    assert_int_equal(symlink("new", "link"), 0);
    assert_int_equal(file_new_check("link", &err), 0); /* one of the user's own is */
    unlink("link");
}

static void reading_stops_at_the_end(void **state)
{
    (void)state;
    struct file_new f;
    char bytes[8];
    size_t got;
    int fd;
    uint64_t size;
    assert_int_equal(file_new_open(&f, "new", NULL), 0);
    assert_int_equal(file_write_all(f.fd, "12345", 5, &got), 0);
    assert_int_equal(got, 5);
    assert_int_equal(file_new_publish(&f, NULL), 0);
    file_new_close(&f, NULL);
    assert_int_equal(file_open(&fd, &size, "new", NULL), 0);
    assert_int_equal(size, 5);
    assert_int_equal(file_read_at(fd, bytes, 8, 3, &got), 0);
    assert_int_equal(got, 2);
    assert_memory_equal(bytes, "45", 2);
    file_close(fd);
    assert_int_equal(file_write_all(-1, "x", 1, &got), -EBADF);
    assert_int_equal(got, 0);
}

static void a_small_file_is_read_whole(void **state)
{
    (void)state;
    char *text;
    size_t length;
    struct err err;
    assert_int_equal(file_read_text(&text, &length, "/proc/self/status", 1 << 20, &err), 0);
    assert_true(length > 100);
    assert_int_equal(strlen(text), length);
    free(text);
    assert_int_equal(file_read_text(&text, &length, "/proc/self/status", 50, &err), ERR_LIMIT);
    assert_null(text);
    assert_int_equal(file_read_text(&text, &length, "/proc/self/status", length - 1, &err), ERR_LIMIT);
    assert_int_equal(file_read_text(&text, &length, "/proc/self/nothing", 50, &err), ERR_ABSENT);
    assert_null(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_file_appears_whole),
        cmocka_unit_test(what_is_not_published_leaves_nothing),
        cmocka_unit_test(standard_descriptors_are_not_taken),
        cmocka_unit_test(what_is_no_file_gets_one_sentence),
        cmocka_unit_test(links_to_descriptors_are_not_replaced),
        cmocka_unit_test(reading_stops_at_the_end),
        cmocka_unit_test(a_small_file_is_read_whole),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

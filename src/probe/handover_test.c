/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "probe/handover.h"

#include "wire/segment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static int listen_at(const struct handover *at)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path + 1, at->name, strlen(at->name));
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(0, bind(fd, (struct sockaddr *)&address,
                             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(at->name))));
    assert_int_equal(0, listen(fd, 1));
    return fd;
}

static void who_listens_refuses_nobody_although_he_does_nothing(void **state)
{
    (void)state;
    struct handover to = {.is_set = true};
    snprintf(to.name, sizeof to.name, "heapwake-handover-test-%d", (int)getpid());
    assert_true(handover_is_refused(&to));
    int fd = listen_at(&to);
    for (int i = 0; i < 10; i++) /* more than the queue takes */
        assert_false(handover_is_refused(&to));
    close(fd);
    assert_true(handover_is_refused(&to));
}

static void a_recording_is_over_where_it_was_alone(void **state)
{
    (void)state;
    struct handover to = {.is_set = true};
    snprintf(to.name, sizeof to.name, "heapwake-test%d-%llx", (int)getpid(),
             (unsigned long long)handover_namespace("/proc/self/ns/net"));
    assert_true(handover_is_over(&to));
    int fd = listen_at(&to);
    assert_false(handover_is_over(&to));
    close(fd);
    assert_true(handover_is_over(&to));
    snprintf(to.name, sizeof to.name, "heapwake-test%d-%llx", (int)getpid(),
             (unsigned long long)handover_namespace("/proc/self/ns/net") + 1);
    assert_true(handover_is_refused(&to));
    assert_false(handover_is_over(&to)); /* nobody can listen for us here */
}

static int listen_in(const char *folder)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s" HELLO_SOCKET, folder);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    assert_int_equal(0, bind(fd, (struct sockaddr *)&address, sizeof address));
    assert_int_equal(0, listen(fd, 5));
    return fd;
}

static void a_socket_in_a_folder_that_others_may_enter_is_nobodys(void **state)
{
    (void)state;
    struct handover to = {.is_set = true};
    char folder[96], path[128];
    snprintf(to.name, sizeof to.name, "heapwake-folder-test%d-0", (int)getpid());
    snprintf(folder, sizeof folder, HELLO_FOLDER "%s", to.name);
    snprintf(path, sizeof path, "%s" HELLO_SOCKET, folder);
    assert_true(handover_is_refused(&to));
    assert_int_equal(0, mkdir(folder, 0700));
    assert_true(handover_is_refused(&to));
    assert_true(handover_is_cut_off(&to)); /* namespace 0 is not ours */
    int fd = listen_in(folder);
    assert_false(handover_is_refused(&to));
    assert_false(handover_is_cut_off(&to));
    assert_int_equal(0, chmod(folder, 0750));
    assert_true(handover_is_refused(&to));
    assert_int_equal(0, chmod(folder, 0701));
    assert_true(handover_is_refused(&to));
    if (geteuid() == 0) {
        assert_int_equal(0, chmod(folder, 0700));
        assert_int_equal(0, chown(folder, 65534, 65534));
        assert_true(handover_is_refused(&to));
    }
    close(fd);
    assert_int_equal(0, unlink(path));
    assert_int_equal(0, rmdir(folder));
}

static void an_address_is_printed_as_it_is_read(void **state)
{
    (void)state;
    struct handover to, again;
    char text[HANDOVER_NAME_MAX + 2 * HANDOVER_TOKEN + 2];
    assert_true(handover_parse(&to, "some-name:000102030405060708090a0b0c0d0eff"));
    assert_string_equal("some-name", to.name);
    assert_int_equal(0xff, to.token[15]);
    handover_print(&to, text);
    assert_string_equal("some-name:000102030405060708090a0b0c0d0eff", text);
    assert_true(handover_parse(&again, text));
    assert_false(handover_parse(&again, "some-name:0001"));
    assert_false(handover_parse(&again, ":000102030405060708090a0b0c0d0eff"));
    assert_false(handover_parse(&again, "some-name:000102030405060708090a0b0c0d0eff0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_listens_refuses_nobody_although_he_does_nothing),
        cmocka_unit_test(a_recording_is_over_where_it_was_alone),
        cmocka_unit_test(a_socket_in_a_folder_that_others_may_enter_is_nobodys),
        cmocka_unit_test(an_address_is_printed_as_it_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

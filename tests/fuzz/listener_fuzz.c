/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * listener_fuzz: arbitrary bytes are sent to a collector's socket (libFuzzer).
 *
 *     input:  u8 how many descriptors come with it (0 to 3), then the message
 *
 * Whoever does not know the token is not heard as a process; what is asked ends with a
 * NUL; no descriptor of a message that is turned away stays open.
 */
#include "descriptors.h"

#include "collect/listener.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DESCRIPTORS = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void send_it(int to, const uint8_t *bytes, size_t size, unsigned descriptors)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(DESCRIPTORS * sizeof(int))] = {0};
    struct iovec part = {(void *)(uintptr_t)bytes, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptors > 0) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
        for (unsigned i = 0; i < descriptors; i++)
            memcpy(CMSG_DATA(c) + i * sizeof(int), &to, sizeof to);
    }
    if (sendmsg(to, &message, MSG_NOSIGNAL) != (ssize_t)size)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct listener_message m;
    struct listener l = {.fd = -1, .token = "sixteen letters"};
    int pair[2];
    if (size < 2 || size > 1 << 16 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return 0;
    int next = descriptors_next(pair[0]);
    send_it(pair[1], data + 1, size - 1, data[0] % (DESCRIPTORS + 1));
    enum listener_heard heard = listener_receive(&l, pair[0], &m);
    if (heard == LISTENER_NOTHING ||
        (heard == LISTENER_CONTROL && strnlen(m.control.text, CONTROL_TEXT_MAX) == CONTROL_TEXT_MAX))
        abort();
    if ((heard == LISTENER_HELLO || heard == LISTENER_UNSHARED) &&
        memcmp(m.hello.hello.token, l.token, LISTENER_TOKEN) != 0)
        abort();
    if (heard == LISTENER_HELLO)
        close(m.hello.segment);
    if (descriptors_are_left(pair[0], next))
        abort();
    close(pair[0]);
    close(pair[1]);
    return 0;
}

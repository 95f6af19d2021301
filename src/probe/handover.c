/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * handover: see handover.h.
 */
#include "probe/handover.h"

#include "probe/memory.h"
#include "wire/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* Ten seconds: who listens no more refuses at once, so somebody is there, and busy. */
enum { HANDOVER_TRIES = 5000, HANDOVER_NAP_NS = 2000000 };

struct handover handover;

static int handover_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

bool handover_parse(struct handover *to, const char *text)
{
    unsigned n = 0;
    to->is_set = false;
    if (text == NULL)
        return false;
    for (; text[n] != ':'; n++) {
        if (text[n] == '\0' || n + 1 >= HANDOVER_NAME_MAX)
            return false;
        to->name[n] = text[n];
    }
    to->name[n] = '\0';
    text += n + 1;
    for (unsigned i = 0; i < HANDOVER_TOKEN; i++) {
        int high = handover_digit(text[2 * i]);
        int low = high < 0 ? -1 : handover_digit(text[2 * i + 1]);
        if (low < 0)
            return false;
        to->token[i] = (uint8_t)(high << 4 | low);
    }
    to->is_set = n > 0 && text[2 * HANDOVER_TOKEN] == '\0';
    return to->is_set;
}

void handover_print(const struct handover *from, char *text)
{
    const char *c = from->name;
    while (*c != '\0')
        *text++ = *c++;
    *text++ = ':';
    for (unsigned i = 0; i < HANDOVER_TOKEN; i++) {
        *text++ = "0123456789abcdef"[from->token[i] >> 4];
        *text++ = "0123456789abcdef"[from->token[i] & 15];
    }
    *text = '\0';
}

static long handover_socket(void)
{
    return sys_socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static long handover_connect_abstract(const struct handover *to, int fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = memory_string_length(to->name);
    memory_copy(address.sun_path + 1, to->name, length); /* the leading NUL: an abstract name */
    return sys_connect(fd, &address, (unsigned)(offsetof(struct sockaddr_un, sun_path) + 1 + length));
}

/* A folder of that name which is another user's, or open to others, may hold anybody's socket. */
static bool handover_is_private(const char *folder)
{
    struct stat st;
    return !sys_failed(SYS_CALL(SYS_newfstatat, AT_FDCWD, folder, &st, AT_SYMLINK_NOFOLLOW, 0, 0)) &&
           S_ISDIR(st.st_mode) && (st.st_mode & (S_IRWXG | S_IRWXO)) == 0 &&
           st.st_uid == (uid_t)SYS_CALL(SYS_geteuid, 0, 0, 0, 0, 0, 0);
}

static long handover_connect_path(const struct handover *to, int fd)
{
    static const char before[] = HELLO_FOLDER, behind[] = HELLO_SOCKET;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = memory_string_length(to->name);
    char *at = address.sun_path;
    memory_copy(at, before, sizeof before - 1);
    memory_copy(at += sizeof before - 1, to->name, length);
    if (!handover_is_private(address.sun_path))
        return -ECONNREFUSED;
    memory_copy(at + length, behind, sizeof behind);
    return sys_connect(fd, &address, sizeof address);
}

/* Its queue is full: a storm of processes. */
static bool handover_is_busy(long result)
{
    return result == -EAGAIN || result == -EINTR;
}

/* -ECONNREFUSED: nobody listens, as far as we can see. */
static long handover_dial(const struct handover *to, int fd)
{
    long result = handover_connect_abstract(to, fd);
    if (sys_failed(result) && !handover_is_busy(result))
        result = handover_connect_path(to, fd);
    return !sys_failed(result) || handover_is_busy(result) ? result : -ECONNREFUSED;
}

bool handover_is_refused(const struct handover *to)
{
    long fd = handover_socket();
    if (sys_failed(fd))
        return false;
    long result = handover_dial(to, (int)fd);
    sys_close((int)fd);
    return result == -ECONNREFUSED;
}

uint64_t handover_namespace(const char *path)
{
    struct stat st;
    long fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (sys_failed(fd))
        return 0;
    bool is_known = !sys_failed(sys_fstat((int)fd, &st));
    sys_close((int)fd);
    return is_known ? st.st_ino : 0;
}

/* Is the collector's network namespace ours? */
static bool handover_is_near(const struct handover *to)
{
    uint64_t number = 0;
    for (const char *c = to->name; *c != '\0'; c++)
        number = *c == '-' ? 0 : number << 4 | (unsigned)(handover_digit(*c) & 15);
    return number == handover_namespace("/proc/self/ns/net");
}

bool handover_is_over(const struct handover *to)
{
    return handover_is_near(to) && handover_is_refused(to);
}

bool handover_is_cut_off(const struct handover *to)
{
    return to->is_set && !handover_is_near(to) && handover_is_refused(to);
}

static int handover_connect(const struct handover *to)
{
    long fd = handover_socket();
    if (sys_failed(fd))
        return -1;
    for (unsigned tries = 0; tries < HANDOVER_TRIES; tries++) {
        long result = handover_dial(to, (int)fd);
        if (!sys_failed(result))
            return (int)fd;
        if (!handover_is_busy(result))
            break;
        const int64_t nap[2] = {0, HANDOVER_NAP_NS};
        sys_nanosleep(nap);
    }
    sys_close((int)fd);
    return -1;
}

bool handover_send(const struct handover *to, int fd)
{
    int connection = handover_connect(to);
    if (connection < 0)
        return false;
    struct hello hello = {.magic = HELLO_MAGIC, .version = SEGMENT_VERSION};
    memory_copy(hello.token, to->token, sizeof hello.token);
    hello.pid = (uint32_t)sys_getpid();
    hello.ppid = (uint32_t)sys_getppid();
    struct iovec part = {&hello, sizeof hello};
    _Alignas(struct cmsghdr) unsigned char control[CMSG_SPACE(sizeof(int))];
    memory_zero(control, sizeof control);
    struct msghdr message;
    memory_zero(&message, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (fd >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memory_copy(CMSG_DATA(c), &fd, sizeof fd);
    }
    long sent;
    do {
        sent = sys_sendmsg(connection, &message, MSG_NOSIGNAL);
    } while (sent == -EINTR);
    sys_close(connection);
    return sent == (long)sizeof hello;
}

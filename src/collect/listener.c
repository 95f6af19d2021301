/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * listener: see listener.h.
 */
#include "collect/listener.h"

#include "tool/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    LISTENER_PATH_MAX = sizeof HELLO_FOLDER + LISTENER_NAME_MAX,
    LISTENER_FILES_MIN = 16, /* below, a descriptor is worth more as a process that is recorded */
};

static const char digits[] = "0123456789abcdef";

static int listener_digit(char c)
{
    const char *at = c == '\0' ? NULL : strchr(digits, c);
    return at == NULL ? -1 : (int)(at - digits);
}

static bool listener_parse(struct listener *l, const char *address)
{
    const char *colon = strrchr(address, ':');
    size_t length = colon == NULL ? 0 : (size_t)(colon - address);
    if (length == 0 || length >= LISTENER_NAME_MAX || strlen(colon + 1) != 2 * LISTENER_TOKEN)
        return false;
    memcpy(l->name, address, length);
    l->name[length] = '\0';
    for (size_t i = 0; i < LISTENER_TOKEN; i++) {
        int high = listener_digit(colon[1 + 2 * i]), low = listener_digit(colon[2 + 2 * i]);
        if (high < 0 || low < 0)
            return false;
        l->token[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* By the device where the kernel has no call for it (before 3.17). */
static bool listener_read_random(void *bytes, size_t length)
{
    size_t got = 0;
    if (getrandom(bytes, length, 0) == (ssize_t)length)
        return true;
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_read = file_read_at(fd, bytes, length, 0, &got) == 0 && got == length;
    close(fd);
    return is_read;
}

static bool listener_invent(struct listener *l)
{
    uint64_t name[2];
    struct stat here;
    if (!listener_read_random(l->token, sizeof l->token) || !listener_read_random(name, sizeof name))
        return false;
    bool is_known = stat("/proc/self/ns/net", &here) == 0; /* what it is for: probe/handover.h */
    snprintf(l->name, sizeof l->name, "heapwake-%016llx%016llx-%llx", (unsigned long long)name[0],
             (unsigned long long)name[1], is_known ? (unsigned long long)here.st_ino : 0);
    return true;
}

static int listener_listen(const struct sockaddr_un *at, size_t length)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)at, (socklen_t)length) == 0 &&
        listen(fd, SOMAXCONN) == 0)
        return fd;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

/* Where its folder and its socket are. */
static void listener_get_path(const struct listener *l, char folder[LISTENER_PATH_MAX],
                              struct sockaddr_un *at)
{
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(folder, LISTENER_PATH_MAX, HELLO_FOLDER "%s", l->name);
    snprintf(at->sun_path, sizeof at->sun_path, "%s" HELLO_SOCKET, folder);
}

static void listener_open_path(struct listener *l)
{
    char folder[LISTENER_PATH_MAX];
    struct sockaddr_un at;
    struct rlimit files;
    listener_get_path(l, folder, &at);
    bool has_room = getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur >= LISTENER_FILES_MIN;
    if (!has_room || mkdir(folder, S_IRWXU) != 0)
        return;
    l->path_fd = listener_listen(&at, sizeof at);
    if (l->path_fd < 0)
        (void)rmdir(folder);
}

int listener_open(struct listener *l, const char *address, struct err *err)
{
    memset(l, 0, sizeof *l);
    l->fd = l->path_fd = -1;
    if (address == NULL && !listener_invent(l))
        return err_set(err, ERR_SYSTEM,
                       "The collector cannot make a secret: the system has no random bytes for it.");
    if (address != NULL && !listener_parse(l, address))
        return err_set(err, ERR_INPUT, "The address to listen at makes no sense.");
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    size_t length = strlen(l->name);
    memcpy(at.sun_path + 1, l->name, length); /* the leading NUL makes it abstract */
    l->fd = listener_listen(&at, offsetof(struct sockaddr_un, sun_path) + 1 + length);
    if (l->fd < 0)
        return err_set(err, ERR_SYSTEM, "The collector cannot listen for programs: %s.", strerror(errno));
    listener_open_path(l);
    return 0;
}

void listener_close(struct listener *l)
{
    char folder[LISTENER_PATH_MAX];
    struct sockaddr_un at;
    if (l->fd >= 0)
        close(l->fd);
    if (l->path_fd >= 0) {
        listener_get_path(l, folder, &at);
        close(l->path_fd);
        (void)unlink(at.sun_path);
        (void)rmdir(folder);
    }
    l->fd = l->path_fd = -1;
}

void listener_print(const struct listener *l, char *text)
{
    text += sprintf(text, "%s:", l->name);
    for (size_t i = 0; i < LISTENER_TOKEN; i++) {
        *text++ = digits[l->token[i] >> 4];
        *text++ = digits[l->token[i] & 15];
    }
    *text = '\0';
}

static int listener_accept_at(int at)
{
    int fd;
    do
        fd = accept4(at, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
    return fd;
}

int listener_accept(struct listener *l)
{
    int fd = listener_accept_at(l->fd);
    return fd < 0 && l->path_fd >= 0 ? listener_accept_at(l->path_fd) : fd;
}

/* Takes the first descriptor out of the message and closes any others. */
static int listener_take_fd(struct msghdr *message)
{
    int taken = -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (taken < 0)
                taken = fd;
            else
                close(fd);
        }
    }
    return taken;
}

static bool listener_knows(const struct listener *l, const struct hello *hello)
{
    uint8_t differs = 0;
    for (size_t i = 0; i < LISTENER_TOKEN; i++)
        differs |= hello->token[i] ^ l->token[i];
    return differs == 0 && hello->magic == HELLO_MAGIC && hello->version == SEGMENT_VERSION;
}

static bool listener_is_request(const struct control_request *r, size_t length)
{
    return length == sizeof *r && r->magic == CONTROL_MAGIC && memchr(r->text, '\0', sizeof r->text) != NULL;
}

enum listener_heard listener_receive(const struct listener *l, int connection, struct listener_message *m)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
    struct iovec part = {&m->control, sizeof m->control}; /* the larger of the two */
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t got;
    do
        got = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == EAGAIN ? LISTENER_NOTHING : LISTENER_NONSENSE;
    int fd = listener_take_fd(&message);
    if (fd < 0 && listener_is_request(&m->control, (size_t)got))
        return LISTENER_CONTROL;
    memcpy(&m->hello.hello, &m->control, sizeof m->hello.hello);
    if (got != sizeof m->hello.hello || !listener_knows(l, &m->hello.hello)) {
        if (fd >= 0)
            close(fd);
        return LISTENER_NONSENSE;
    }
    struct ucred who = {0};
    socklen_t size = sizeof who;
    (void)getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size);
    m->hello.segment = fd;
    m->hello.pid = who.pid > 0 ? (uint32_t)who.pid : m->hello.hello.pid;
    return fd >= 0 ? LISTENER_HELLO : LISTENER_UNSHARED;
}

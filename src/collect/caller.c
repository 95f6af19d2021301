/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * caller: see caller.h.
 */
#include "collect/caller.h"

#include "collect/timebase.h"
#include "tool/vec.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum {
    CALLER_AT_ONCE = 256, /* connections that are open at a time */
    CALLER_FIND_MS = 10000,
    CALLER_LISTENS = 0x10000, /* the flag of /proc/net/unix */
};

struct caller_list {
    VEC(struct caller_partner) all;
};

/* --------------------------------------------------------------- a connection */

/* Connects; who is there is the kernel's word.  -1: nobody; *is_full: somebody who takes no more calls. */
static int caller_dial(const char *name, uint32_t *uid, bool *is_full)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    struct ucred who;
    socklen_t size = sizeof who;
    memcpy(to.sun_path + 1, name, length); /* the leading NUL makes it abstract */
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&to,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) != 0) {
        *is_full = errno == EAGAIN;
    } else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0) {
        *uid = who.uid;
        return fd;
    }
    close(fd);
    return -1;
}

static bool caller_say(int fd, const struct control_request *request)
{
    return send(fd, request, sizeof *request, MSG_NOSIGNAL) == sizeof *request;
}

/* False: it has hung up, or says what is no answer. */
static bool caller_listen(int fd, struct control_answer *answer)
{
    ssize_t got = recv(fd, answer, sizeof *answer, 0);
    answer->text[sizeof answer->text - 1] = '\0';
    return got == sizeof *answer && answer->magic == CONTROL_MAGIC;
}

bool caller_ask(const struct caller_partner *partner, const struct control_request *request, int patience_ms,
                struct control_answer *answer)
{
    bool is_full;
    uint32_t uid;
    uint64_t until = timebase_now() + (uint64_t)patience_ms * MS, now;
    struct pollfd wait = {.fd = caller_dial(partner->name, &uid, &is_full), .events = POLLIN};
    if (wait.fd < 0)
        return false;
    int ready = uid == partner->uid && caller_say(wait.fd, request) ? 0 : -1;
    while (ready == 0 && (now = timebase_now()) < until) {
        ready = poll(&wait, 1, (int)((until - now) / MS) + 1);
        if (ready < 0 && errno == EINTR)
            ready = 0;
    }
    bool is_done = ready > 0 && caller_listen(wait.fd, answer);
    close(wait.fd);
    return is_done;
}

/* -------------------------------------------------------------------- finding */

/* A line of /proc/net/unix:  Num: RefCount Protocol Flags Type St Inode [Path] */
static void caller_parse(const char *line, struct caller_list *list)
{
    struct caller_partner one = {.uid = 0};
    unsigned flags;
    if (sscanf(line, "%*s %*s %*s %x %*s %*s %*s @%99s", &flags, one.name) == 2 &&
        (flags & CALLER_LISTENS) != 0 &&
        strncmp(one.name, CONTROL_SOCKET_PREFIX, sizeof CONTROL_SOCKET_PREFIX - 1) == 0)
        (void)vec_push(&list->all, one);
}

/* Everybody is listed before the first is asked: each call adds a line to the list. */
static void caller_list_all(struct caller_list *list)
{
    char *line = NULL;
    size_t room = 0;
    FILE *f = fopen("/proc/net/unix", "re");
    while (f != NULL && getline(&line, &room, f) >= 0)
        caller_parse(line, list);
    free(line);
    if (f != NULL)
        fclose(f);
}

/* A line of /proc/PID/maps: a file, shared, that is named like a spool. */
static bool caller_is_spool(const char *line)
{
    const char *end = strstr(line, ".spool\n");
    return strstr(line, " rw-s ") != NULL && end != NULL && end[sizeof ".spool\n" - 1] == '\0';
}

/* What the process has mapped: CALLER_FOUND = a segment, also where nobody may know. */
static enum caller_finding caller_look(uint32_t pid)
{
    char path[40], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    FILE *f = fopen(path, "re");
    enum caller_finding finding = f == NULL ? CALLER_FOUND : CALLER_NOT_RECORDED;
    while (finding == CALLER_NOT_RECORDED && getline(&line, &room, f) >= 0) {
        if (strstr(line, " /memfd:heapwake") != NULL)
            finding = CALLER_FOUND;
        else if (caller_is_spool(line))
            finding = CALLER_SPOOL;
    }
    if (f != NULL && ferror(f) != 0)
        finding = CALLER_FOUND;
    free(line);
    if (f != NULL)
        fclose(f);
    return finding;
}

/* What is known after a number of calls. */
struct caller_sum {
    const struct caller_partner *found;
    bool is_refused, is_silent;
};

static void caller_hear_one(int fd, const struct caller_partner *partner, struct caller_sum *sum)
{
    static struct control_answer answer;
    if (!caller_listen(fd, &answer))
        return;
    sum->is_refused |= answer.code == CONTROL_REFUSED;
    if (answer.code == CONTROL_DONE)
        sum->found = partner;
}

/* Hears the answers as they come in, until one is yes or the time is over. */
static void caller_hear(struct pollfd *calls, const struct caller_partner *partners, unsigned count,
                        struct caller_sum *sum)
{
    uint64_t until = timebase_now() + CALLER_FIND_MS * MS, now;
    unsigned open = 0;
    for (unsigned i = 0; i < count; i++)
        open += calls[i].fd >= 0;
    while (open != 0 && sum->found == NULL && (now = timebase_now()) < until) {
        if (poll(calls, count, (int)((until - now) / MS) + 1) <= 0)
            continue;
        for (unsigned i = 0; i < count; i++) {
            if (calls[i].fd < 0 || calls[i].revents == 0)
                continue;
            caller_hear_one(calls[i].fd, &partners[i], sum);
            close(calls[i].fd);
            calls[i].fd = -1;
            open--;
        }
    }
    sum->is_silent |= open != 0;
}

static void caller_ask_all(uint32_t pid, const uid_t *owner, struct caller_partner *partners, unsigned count,
                           struct caller_sum *sum)
{
    static struct control_request request;
    struct pollfd calls[CALLER_AT_ONCE];
    request = (struct control_request){
        .magic = CONTROL_MAGIC, .version = CONTROL_VERSION, .op = CONTROL_FIND, .pid = pid};
    for (unsigned i = 0; i < count; i++) {
        bool is_full = false;
        uint32_t *uid = &partners[i].uid;
        int fd = caller_dial(partners[i].name, uid, &is_full);
        sum->is_silent |= is_full;
        bool is_believed = fd >= 0 && (*uid == 0 || *uid == geteuid() || (owner != NULL && *uid == *owner));
        if (fd >= 0 && (!is_believed || !caller_say(fd, &request))) {
            close(fd);
            fd = -1;
        }
        calls[i] = (struct pollfd){fd, POLLIN, 0};
    }
    caller_hear(calls, partners, count, sum);
    for (unsigned i = 0; i < count; i++) {
        if (calls[i].fd >= 0)
            close(calls[i].fd);
    }
}

enum caller_finding caller_find(uint32_t pid, struct caller_partner *partner)
{
    struct caller_list list = {.all = {0}};
    struct caller_sum sum = {NULL, false, false};
    struct stat process;
    char path[32];
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return CALLER_NO_PROCESS;
    enum caller_finding finding = caller_look(pid);
    if (finding != CALLER_FOUND)
        return finding;
    snprintf(path, sizeof path, "/proc/%u", pid);
    const uid_t *owner = stat(path, &process) == 0 ? &process.st_uid : NULL;
    caller_list_all(&list);
    for (size_t i = 0; i < list.all.count && sum.found == NULL; i += CALLER_AT_ONCE) {
        size_t left = list.all.count - i;
        caller_ask_all(pid, owner, &list.all.data[i],
                       (unsigned)(left < CALLER_AT_ONCE ? left : CALLER_AT_ONCE), &sum);
    }
    if (sum.found != NULL)
        *partner = *sum.found;
    vec_release(&list.all);
    if (sum.found != NULL)
        return CALLER_FOUND;
    if (sum.is_refused)
        return CALLER_REFUSED;
    return sum.is_silent ? CALLER_SILENT : CALLER_NOT_RECORDED;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * spawn: starts a collector for a program that was only given LD_PRELOAD.
 *
 *     program --clone, no exit signal--> middle --clone--> collector
 *                <--- waited for here ---|                 (exec heapwake collect)
 *
 * The middle one ends at once and is reaped right here, with the flag that
 * finds children without an exit signal; the collector is nobody's child. The
 * program sees no child, no SIGCHLD, and its own wait calls find nothing. Unless orphans are
 * given to the program itself, which is then the first process of a container, or has asked for that
 * (PR_SET_CHILD_SUBREAPER): no collector is started, and the spool file has to do.
 *
 * The collector binary is looked for beside our library, then where an
 * installation would put it. It gets none of the program's descriptors but
 * stderr, and that only if HEAPWAKE_LOG asks for it.
 */
#include "probe/handover.h"

#include "probe/environment.h"
#include "probe/memory.h"
#include "probe/module.h"
#include "probe/real.h"
#include "probe/target.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/prctl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { SPAWN_FD = 3, SPAWN_TEXT = 8192, SPAWN_PATIENCE_MS = 3000, SPAWN_ENVIRONMENT = 8192 };

static long spawn_clone(void)
{
    return SYS_CALL(SYS_clone, 0, 0, 0, 0, 0, 0); /* like fork, but without SIGCHLD */
}

static void spawn_exit(void)
{
    for (;;)
        SYS_CALL(SYS_exit_group, 127, 0, 0, 0, 0, 0);
}

/* The folder of our own library, with a slash at its end. */
static size_t spawn_folder(char *to, size_t room)
{
    struct module_object o;
    if (real.dl_find_object((void *)(uintptr_t)&spawn_folder, &o) != 0)
        return 0;
    const char *path = ((const struct link_map *)o.link_map)->l_name;
    size_t length = memory_string_length(path), folder = 0;
    for (size_t i = 0; i < length; i++) {
        if (path[i] == '/')
            folder = i + 1;
    }
    if (folder == 0 || folder + 64 > room)
        return 0;
    memory_copy(to, path, folder);
    return folder;
}

/* In the collector-to-be: descriptors. */
static void spawn_arrange(int fd, bool keep_stderr)
{
    long null = sys_open("/dev/null", O_RDWR, 0);
    if (fd != SPAWN_FD) {
        SYS_CALL(SYS_dup3, fd, SPAWN_FD, 0, 0, 0, 0);
    } else {
        SYS_CALL(SYS_fcntl, fd, F_SETFD, 0, 0, 0, 0);
    }
    for (int i = 0; i < 3 && !sys_failed(null); i++) {
        if (i != 2 || !keep_stderr)
            SYS_CALL(SYS_dup2, null, i, 0, 0, 0, 0);
    }
    if (sys_failed(SYS_CALL(SYS_close_range, SPAWN_FD + 1, ~0u, 0, 0, 0, 0))) {
        for (int i = SPAWN_FD + 1; i < 4096; i++)
            sys_close(i);
    }
    uint64_t none = 0;
    SYS_CALL(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &none, 0, 8, 0, 0);
}

/* The program's environment without what would load us into the collector. */
static char *const *spawn_environment(void)
{
    char **list = memory_pages(SPAWN_ENVIRONMENT * sizeof *list);
    unsigned n = 0;
    if (list == NULL || real.stack_end == NULL)
        return NULL;
    char *const *from = (char *const *)(real.stack_end + 1) + (long)(intptr_t)real.stack_end[0] + 1;
    for (; *from != NULL && n + 1 < SPAWN_ENVIRONMENT; from++) {
        if ((*from)[0] != 'L' || (*from)[1] != 'D' || (*from)[2] != '_')
            list[n++] = *from;
    }
    return list;
}

static void spawn_exec(int fd)
{
    static const char *const places[] = {"heapwake", "../bin/heapwake", "../../bin/heapwake",
                                         "../../../bin/heapwake"};
    char path[4096];
    char number[2] = {'0' + SPAWN_FD, '\0'};
    char *const arguments[] = {(char *)"heapwake", (char *)"collect", (char *)"--fd", number, NULL};
    spawn_arrange(fd, environment_find("HEAPWAKE_LOG") != NULL);
    char *const *environment = spawn_environment();
    const char *given = environment_find("HEAPWAKE_COLLECTOR");
    if (given != NULL)
        SYS_CALL(SYS_execve, given, arguments, environment, 0, 0, 0);
    size_t folder = spawn_folder(path, sizeof path);
    for (unsigned i = 0; folder != 0 && i < sizeof places / sizeof *places; i++) {
        memory_copy(path + folder, places[i], memory_string_length(places[i]) + 1);
        SYS_CALL(SYS_execve, path, arguments, environment, 0, 0, 0);
    }
    const char *found = target_find("heapwake", path);
    if (found != NULL)
        SYS_CALL(SYS_execve, found, arguments, environment, 0, 0, 0);
}

static void spawn_middle(int fd)
{
    SYS_CALL(SYS_setsid, 0, 0, 0, 0, 0, 0);
    if (spawn_clone() == 0)
        spawn_exec(fd);
    spawn_exit();
}

/* name:token, then the settings that a collector needs, NUL after each. */
static size_t spawn_message(const struct handover *to, char *text)
{
    static const char *const names[] = {"HEAPWAKE_OUTPUT",   "HEAPWAKE_LOG",     "HEAPWAKE_LOGFILE",
                                        "HEAPWAKE_CHILDREN", "HEAPWAKE_SYMBOLS", "HEAPWAKE_EMBED_BINARIES",
                                        "HEAPWAKE_CULL",     "HEAPWAKE_CULL_MS", "HEAPWAKE_CULL_PENDING",
                                        "HEAPWAKE_MAX_SIZE", "HEAPWAKE_ROTATE",  "HEAPWAKE_MAP_USAGE"};
    handover_print(to, text);
    size_t n = memory_string_length(text) + 1;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = environment_find(names[i]);
        size_t name = memory_string_length(names[i]);
        size_t length = value == NULL ? 0 : memory_string_length(value);
        if (value == NULL || n + name + length + 2 > SPAWN_TEXT)
            continue;
        memory_copy(text + n, names[i], name);
        text[n + name] = '=';
        memory_copy(text + n + name + 1, value, length + 1);
        n += name + length + 2;
    }
    return n;
}

/* Tells it where to listen and waits until it does. */
static bool spawn_agree(const struct handover *to, int fd)
{
    char *text = memory_pages(SPAWN_TEXT);
    if (text == NULL)
        return false;
    size_t n = spawn_message(to, text);
    long sent = SYS_CALL(SYS_sendto, fd, text, n, MSG_NOSIGNAL, 0, 0);
    sys_munmap(text, SPAWN_TEXT);
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    char reply = 0;
    long ready;
    do {
        ready = SYS_CALL(SYS_poll, &wait, 1, SPAWN_PATIENCE_MS, 0, 0, 0);
    } while (ready == -EINTR);
    return sent == (long)n && ready == 1 && sys_read(fd, &reply, 1) == 1;
}

/* False: there is nothing random to be had, and so no secret. */
static bool spawn_name(struct handover *to)
{
    uint8_t random[8];
    static const char prefix[] = "heapwake-";
    if (SYS_CALL(SYS_getrandom, random, sizeof random, 0, 0, 0, 0) != (long)sizeof random ||
        SYS_CALL(SYS_getrandom, to->token, sizeof to->token, 0, 0, 0, 0) != (long)sizeof to->token)
        return false;
    memory_copy(to->name, prefix, sizeof prefix - 1);
    char *at = to->name + sizeof prefix - 1;
    for (unsigned i = 0; i < sizeof random; i++) {
        *at++ = "0123456789abcdef"[random[i] >> 4];
        *at++ = "0123456789abcdef"[random[i] & 15];
    }
    uint64_t space = handover_namespace("/proc/self/ns/net");
    *at++ = '-';
    for (unsigned shift = 64; shift > 0; shift -= 4)
        *at++ = "0123456789abcdef"[space >> (shift - 4) & 15];
    *at = '\0';
    return true;
}

static bool spawn_would_be_our_child(void)
{
    int is_subreaper = 0;
    return sys_getpid() == 1 ||
           (!sys_failed(sys_prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper)) && is_subreaper != 0);
}

bool spawn_collector(struct handover *to)
{
    int pair[2];
    to->is_set = false;
    if (spawn_would_be_our_child() || !spawn_name(to) ||
        sys_failed(sys_socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)))
        return false;
    long middle = spawn_clone();
    if (middle == 0)
        spawn_middle(pair[1]);
    sys_close(pair[1]);
    if (!sys_failed(middle)) {
        long done;
        do {
            done = SYS_CALL(SYS_wait4, middle, 0, (int)__WALL, 0, 0, 0);
        } while (done == -EINTR);
        to->is_set = spawn_agree(to, pair[0]);
    }
    sys_close(pair[0]);
    return to->is_set;
}

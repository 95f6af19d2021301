/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ctl: tells the collector of a running process what to do (wire/control.h).
 *
 * Which collector that is: /proc/net/unix lists the sockets of all that listen,
 * and each is asked whether the process is one of its own.
 */
#include "cmd/command.h"
#include "tool/vec.h"
#include "wire/control.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CTL_FIND_MS = 3000, CTL_ACT_MS = 120000, CTL_NAME_MAX = 100 };

static const struct {
    const char *name;
    enum control_op op;
    bool needs_text, takes_text;
} ctl_commands[] = {
    {"enable", CONTROL_ENABLE, false, false}, {"disable", CONTROL_DISABLE, false, false},
    {"toggle", CONTROL_TOGGLE, false, false}, {"tag", CONTROL_TAG, true, true},
    {"report", CONTROL_REPORT, false, true},  {"status", CONTROL_STATUS, false, false},
    {"stop", CONTROL_STOP, false, false},
};

enum { CTL_COMMANDS = sizeof ctl_commands / sizeof *ctl_commands };

/* One question, one answer.  False: nobody answers in time. */
static bool ctl_ask(const char *name, const struct control_request *request, int patience_ms,
                    struct control_answer *answer)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    memcpy(to.sun_path + 1, name, length); /* the leading NUL makes it abstract */
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    bool done = fd >= 0 &&
                connect(fd, (struct sockaddr *)&to,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) == 0 &&
                send(fd, request, sizeof *request, MSG_NOSIGNAL) == sizeof *request;
    int ready = -1;
    do
        ready = done ? poll(&wait, 1, patience_ms) : -1;
    while (done && ready < 0 && errno == EINTR);
    done =
        ready == 1 && recv(fd, answer, sizeof *answer, 0) == sizeof *answer && answer->magic == CONTROL_MAGIC;
    answer->text[sizeof answer->text - 1] = '\0';
    if (fd >= 0)
        close(fd);
    return done;
}

/* The name of a collector's socket in a line of /proc/net/unix; NULL: it is none. */
static char *ctl_socket_name(char *line)
{
    char *at = strstr(line, " @" CONTROL_SOCKET_PREFIX);
    /* The flags tell the one that listens from its connections, which have the same name. */
    if (at == NULL || strstr(line, " 00010000 ") == NULL)
        return NULL;
    at += 2;
    at[strcspn(at, "\n")] = '\0';
    return strlen(at) < CTL_NAME_MAX ? at : NULL;
}

/* Finds the collector of a process.  *name gets its socket; else *refused: it is another user's. */
static bool ctl_find(uint32_t pid, char name[CTL_NAME_MAX], bool *refused, bool *silent)
{
    static struct control_request request;
    static struct control_answer answer;
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    FILE *f = fopen("/proc/net/unix", "re");
    *refused = *silent = false;
    request = (struct control_request){
        .magic = CONTROL_MAGIC, .version = CONTROL_VERSION, .op = CONTROL_FIND, .pid = pid};
    while (f != NULL && !found && getline(&line, &room, f) >= 0) {
        const char *socket_name = ctl_socket_name(line);
        if (socket_name == NULL)
            continue;
        if (!ctl_ask(socket_name, &request, CTL_FIND_MS, &answer)) {
            *silent = true;
            continue;
        }
        *refused |= answer.code == CONTROL_REFUSED;
        found = answer.code == CONTROL_DONE;
        if (found)
            snprintf(name, CTL_NAME_MAX, "%s", socket_name);
    }
    free(line);
    if (f != NULL)
        fclose(f);
    return found;
}

static int ctl_missing(uint32_t pid, bool refused, bool silent)
{
    if (refused)
        command_say("Process %u is recorded for another user; only that user and root may control it.", pid);
    else if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        command_say("There is no process %u.", pid);
    else if (silent)
        command_say("No collector says that it records process %u, but not all of them answer.", pid);
    else
        command_say("Process %u is not being recorded by heapwake.", pid);
    return EXIT_FAILED;
}

/* Relative to the folder of whoever asks. */
static bool ctl_set_path(struct control_request *r, const char *path)
{
    char folder[PATH_MAX];
    int length;
    if (path[0] == '/')
        length = snprintf(r->text, sizeof r->text, "%s", path);
    else if (getcwd(folder, sizeof folder) == NULL)
        return false;
    else
        length = snprintf(r->text, sizeof r->text, "%s/%s", folder, path);
    return length > 0 && (size_t)length < sizeof r->text;
}

static int ctl_number(const char *text, uint32_t max, uint32_t *value)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number == 0 || number > max)
        return EXIT_USAGE;
    *value = (uint32_t)number;
    return EXIT_DONE;
}

static int ctl_misused(void)
{
    return command_misused(
        "Usage: heapwake ctl PID enable|disable|toggle|tag NAME|report [FILE]|status|stop");
}

static int ctl_parse(struct control_request *r, int argc, char **argv)
{
    const char *words[3];
    int count = 0;
    for (int i = 1; i < argc; i++) {
        const char *value;
        if (command_option(argv, &i, "--depth", &value)) {
            if (ctl_number(value, 1024, &r->depth) != EXIT_DONE)
                return command_misused("--depth takes a number from 1 to 1024, not '%s'.", value);
        } else if (count == 3) {
            return ctl_misused();
        } else {
            words[count++] = argv[i];
        }
    }
    if (count < 2)
        return ctl_misused();
    if (ctl_number(words[0], INT_MAX, &r->pid) != EXIT_DONE)
        return command_misused("'%s' is no process id.", words[0]);
    size_t k = 0;
    while (k < CTL_COMMANDS && strcmp(words[1], ctl_commands[k].name) != 0)
        k++;
    if (k == CTL_COMMANDS)
        return command_misused("'heapwake ctl' has no command '%s'; 'heapwake help ctl' lists them.",
                               words[1]);
    r->op = ctl_commands[k].op;
    if ((count == 3 && !ctl_commands[k].takes_text) || (count == 2 && ctl_commands[k].needs_text) ||
        (r->depth != 0 && r->op != CONTROL_REPORT))
        return ctl_misused();
    bool fits = true;
    if (count == 3 && r->op == CONTROL_REPORT)
        fits = ctl_set_path(r, words[2]);
    else if (count == 3)
        fits = (size_t)snprintf(r->text, sizeof r->text, "%s", words[2]) <= 255;
    return fits ? EXIT_DONE : command_misused("'%.100s...' is too long.", words[2]);
}

int command_ctl(int argc, char **argv)
{
    static struct control_request request;
    static struct control_answer answer;
    char name[CTL_NAME_MAX];
    bool refused, silent;
    request = (struct control_request){.magic = CONTROL_MAGIC, .version = CONTROL_VERSION};
    int status = ctl_parse(&request, argc, argv);
    if (status != EXIT_DONE)
        return status;
    if (!ctl_find(request.pid, name, &refused, &silent))
        return ctl_missing(request.pid, refused, silent);
    if (!ctl_ask(name, &request, CTL_ACT_MS, &answer)) {
        command_say("The collector of process %u does not answer.", request.pid);
        return EXIT_FAILED;
    }
    if (answer.code != CONTROL_DONE) {
        command_say("%s", answer.text[0] == '\0' ? "The process has ended." : answer.text);
        return EXIT_FAILED;
    }
    struct strbuf out;
    strbuf_init(&out);
    strbuf_addf(&out, "%s\n", answer.text);
    status = command_print(&out) ? EXIT_DONE : EXIT_FAILED;
    strbuf_release(&out);
    return status;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * listener: where probes say hello: an abstract socket with a secret, and one at a path in /tmp, for those in another
 * network namespace. The latter's folder is made here and removed at the end; where it cannot be made there is none.
 *
 * A connection sends one struct hello (wire/segment.h) with the descriptor of
 * its segment and is closed.  Whoever does not know the token is turned away.
 * Or it sends a struct control_request (wire/control.h), for which no token is needed:
 * who may ask is for the receiver to decide.
 */
#ifndef HW_COLLECT_LISTENER_H
#define HW_COLLECT_LISTENER_H

#include "tool/err.h"
#include "wire/control.h"
#include "wire/segment.h"

#include <stdbool.h>
#include <stdint.h>

enum { LISTENER_NAME_MAX = 64, LISTENER_TOKEN = 16 };

struct listener {
    int fd;      /* abstract; -1: closed */
    int path_fd; /* at the path that wire/segment.h says; -1: there is none */
    char name[LISTENER_NAME_MAX];
    uint8_t token[LISTENER_TOKEN];
};

/* What a connection brought. */
struct listener_hello {
    struct hello hello;
    int segment;  /* the caller's to close; -1: none */
    uint32_t pid; /* the sender, as the collector sees it */
};

enum listener_heard {
    LISTENER_NONSENSE = -1,
    LISTENER_NOTHING = 0,
    LISTENER_HELLO,
    LISTENER_UNSHARED, /* a hello without a segment: the process could make none */
    LISTENER_CONTROL
};

/* One of the two, as listener_receive says. */
struct listener_message {
    struct listener_hello hello;
    struct control_request control;
};

/* Listens under a name and a token of its own making, or those of address (`name:token`). */
int listener_open(struct listener *l, const char *address, struct err *err);
void listener_close(struct listener *l);
/* Writes `name:token`; room for LISTENER_NAME_MAX + 2 * LISTENER_TOKEN + 2 bytes. */
void listener_print(const struct listener *l, char *text);
/* The next connection, or -1.  Never blocks. */
int listener_accept(struct listener *l);
/* Reads a connection.  LISTENER_NOTHING: it has not said anything yet. */
enum listener_heard listener_receive(const struct listener *l, int connection, struct listener_message *m);

#endif

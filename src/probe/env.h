/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * env: the environment that a new image needs in order to be followed.
 *
 * LD_PRELOAD must name our library and HEAPWAKE_SOCKET the collector. What the
 * program passes is kept, in order; only what is missing is added. A program
 * that cannot be followed (target.h), and any in a sandbox, gets LD_PRELOAD without our
 * library.
 *
 * env_plan says how much room a copy needs; a little is given by the caller, on its stack; for
 * more, pages are mapped, as stacks may be small. env_copy writes it.
 */
#ifndef HW_PROBE_ENV_H
#define HW_PROBE_ENV_H

#include "wire/record.h"

#include <stdbool.h>
#include <stddef.h>

struct env_plan {
    bool is_needed;
    enum record_fork becomes; /* what a child becomes by this; FORK_CHILD: nobody is told */
    bool is_apart;            /* it becomes FORK_PROGRAM, and cannot reach the collector from here */
    size_t room;              /* bytes */
    char *const *from;
    size_t count;
    size_t preload; /* index of LD_PRELOAD in from, or count */
    size_t socket;  /* index of HEAPWAKE_SOCKET in from, or count */
    bool add_preload;
    bool add_socket;
    bool drop_preload;
    void *mapped; /* room that is to be given back */
    bool was_caged;
};

enum { ENV_STACK_MAX = 1024 }; /* bytes of room that a caller may have on its stack */

/* path: the file to be run, NULL when it is not known yet. */
struct env_plan env_plan(char *const *from, const char *path);
/* What to pass on: the copy, or what was given where none is needed or can be made.  room: plan->room bytes, or NULL. */
char *const *env_copy(struct env_plan *plan, void *room);
/* Takes room for what a vfork child will pass on, before it can take none any more. */
void env_lay_in(void);
/* The call has come back. */
void env_done(const struct env_plan *plan);

#endif

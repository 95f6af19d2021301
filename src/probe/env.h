/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * env: the environment that a new image needs in order to be followed.
 *
 * LD_PRELOAD must name our library and HEAPWAKE_SOCKET the collector. What the
 * program passes is kept, in order; only what is missing is added. A program
 * that cannot be followed (target.h), and any in a sandbox, gets LD_PRELOAD without our
 * library.
 *
 * No memory is allocated: env_plan says how much room a copy needs, the caller
 * gives it (on its stack: the child of a vfork shares everything else with its
 * parent), env_fill writes it.
 */
#ifndef HW_PROBE_ENV_H
#define HW_PROBE_ENV_H

#include <stdbool.h>
#include <stddef.h>

struct env_plan {
    bool is_needed;
    size_t room; /* bytes */
    char *const *from;
    size_t count;
    size_t preload; /* index of LD_PRELOAD in from, or count */
    size_t socket;  /* index of HEAPWAKE_SOCKET in from, or count */
    bool add_preload;
    bool add_socket;
    bool drop_preload;
};

/* path: the file to be run, NULL when it is not known yet. */
struct env_plan env_plan(char *const *from, const char *path);
char *const *env_fill(const struct env_plan *plan, void *room);

#endif

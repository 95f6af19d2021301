/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * phases: for programs that do what a table says, phase by phase: first the main thread its part, then a
 * thread named "helper" its own.
 */
#ifndef PHASES_H
#define PHASES_H

#include <heapwake.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/* What is to be done in a phase; the program's. */
static void act(int phase, bool is_helper);

static void *phases_help(void *phase)
{
    HEAPWAKE_THREAD_NAME("helper");
    act((int)(intptr_t)phase, true);
    return NULL;
}

static inline void phases_run(int phase)
{
    pthread_t helper;
    act(phase, false);
    if (pthread_create(&helper, NULL, phases_help, (void *)(intptr_t)phase) != 0)
        _exit(96);
    pthread_join(helper, NULL);
}

#endif

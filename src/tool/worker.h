/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * worker: threads that help the one that was asked, for as long as the question takes.
 */
#ifndef HW_TOOL_WORKER_H
#define HW_TOOL_WORKER_H

#include <pthread.h>
#include <stdbool.h>

/* CPUs that this process may use, at least 1. */
unsigned worker_cpus(void);
/* Starts a thread, in which all signals are blocked: they are for the thread that asks.  False: there is none to be had. */
bool worker_start(pthread_t *thread, void *(*run)(void *), void *context);

#endif

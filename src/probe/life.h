/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * life: birth and death of the probe; the one state machine.
 *
 *     UNBORN --first call or constructor--> FIND --> OPEN --> ON  (recording)
 *                                                      |
 *                                                      +----> OFF (the program runs as if alone)
 *     ON --fork--> child: RENEW --> ON | OFF
 *
 * Every hook may be the first call, and may come before our relocation, before
 * TLS, from inside dlsym, or in several threads at once. There is no death: the
 * segment outlives the program.
 *
 * Birth is FIND, which looks up the real functions and may need the loader's
 * lock, and OPEN, which may wait for a collector and needs no lock at all. Who
 * calls meanwhile:
 *
 *     another thread     waits until we are born. During FIND it waits for a moment
 *                        only: it may be the one who holds the loader's lock.
 *     the same thread    (dlsym, or a handler that interrupts birth) cannot wait: heap
 *                        calls are served by the early pool, all others by the real
 *                        functions, which are looked up on the spot (life_real).
 */
#ifndef HW_PROBE_LIFE_H
#define HW_PROBE_LIFE_H

#include "probe/inner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum life_state {
    LIFE_UNBORN = 0,
    LIFE_FIND = 1,
    LIFE_OPEN = 2,
    LIFE_ON = 3,
    LIFE_OFF = 4,
    LIFE_RENEW = 5,
};

struct life {
    uint32_t state; /* enum life_state */
    uint32_t many;  /* 1: more than one thread has been seen */
    uint32_t pid;   /* whose segment this is */
    uint32_t
        epoch; /* forks between the first process and this one: what was told in another was not told here */
    uintptr_t
        first_thread; /* thread pointer of the process' first thread, if it was there at birth; 0 = not known */
    uint32_t is_precise; /* 1: every event is stamped, HEAPWAKE_PRECISE_TIMESTAMPS */
};

struct real;

INNER struct life life;

/* Not 0: a seccomp filter is installed, or about to be: no system calls any more. */
INNER uint32_t life_sandbox;

/* 1: this is the child of a vfork, which has shut itself in, and not us. Until it is on its way into another
 * program: the thread that waits for it has the same word. */
INNER __thread uint32_t tls_caged __attribute__((tls_model("initial-exec")));

/* May nothing be asked of the kernel here? */
static inline bool life_is_caged(void)
{
    return life_sandbox != 0 || tls_caged != 0;
}

/* Called when real.malloc is NULL. True: born now, go on with the real call.
 * False: serve from the early pool. */
bool life_begin(void);

/* The real functions, for hooks that no pool can serve. Where birth is still
 * under way the program is as alone: what is called now is not told of. NULL
 * before our relocation, when nothing can be found. */
const struct real *life_real(void);

/* In a forked child, before its first event. True: recording. */
bool life_renew(void);

/* In a forked child, right after the fork. */
void life_forked(void);

#endif

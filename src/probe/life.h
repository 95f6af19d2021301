/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * life: birth and death of the probe; the one state machine.
 *
 *     UNBORN --first call or constructor--> BIRTH --> ON  (recording)
 *                                             |        |
 *                                             +------> OFF (the program runs as if alone)
 *     ON --fork--> child: RENEW --> ON | OFF
 *
 * Every hook may be the first call, and may come before our relocation, before
 * TLS, from inside dlsym, or in several threads at once; while the state is
 * UNBORN or BIRTH calls are served by the early pool. There is no death: the
 * segment outlives the program.
 */
#ifndef HW_PROBE_LIFE_H
#define HW_PROBE_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum life_state {
    LIFE_UNBORN = 0,
    LIFE_BIRTH = 1,
    LIFE_ON = 2,
    LIFE_OFF = 3,
    LIFE_RENEW = 4,
};

struct life {
    uint32_t state; /* enum life_state */
    uint32_t many;  /* 1: more than one thread has been seen */
    uint32_t pid;   /* whose segment this is */
};

extern struct life life;

/* 1: a seccomp filter has been installed: no system calls any more. */
extern uint32_t life_sandbox __attribute__((visibility("hidden")));

/* Called when real.malloc is NULL. True: born now, go on with the real call.
 * False: serve from the early pool. */
bool life_begin(void);

/* In a forked child, before its first event. True: recording. */
bool life_renew(void);

#endif

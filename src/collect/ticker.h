/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ticker: advances the clock words of segments every millisecond, whatever the collector is doing: a thread of its
 * own, which sleeps while there is none.
 *
 * Only processes whose events have no stamps of their own, and are many, need that (image_follow_pace).
 */
#ifndef HW_COLLECT_TICKER_H
#define HW_COLLECT_TICKER_H

#include "tool/vec.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct ticker_clock {
    uint64_t *word;
    bool is_sequence; /* the word has CLOCK_MONOTONIC, not the counter of the CPU */
};

struct ticker {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    VEC(struct ticker_clock) clocks;
    bool has_thread, is_over;
};

void ticker_init(struct ticker *t);
/* False: there is no memory or no thread for it. A word is added once. */
bool ticker_add(struct ticker *t, uint64_t *word, bool is_sequence);
/* When this returns the word is not written any more. */
void ticker_remove(struct ticker *t, const uint64_t *word);
/* Accepts a zeroed one. */
void ticker_release(struct ticker *t);

#endif

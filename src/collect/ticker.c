/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ticker: see ticker.h.  The lock covers the list and every write to a clock word, so that a segment can be unmapped once
 * its word has been removed.
 */
#include "collect/ticker.h"

#include "collect/arch.h"
#include "collect/timebase.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum {
    TICKER_NS = 900000, /* timers come late: this is at most a millisecond */
    TICKER_STACK = 64 * 1024,
};

static void ticker_tick(struct ticker *t)
{
    for (size_t i = 0; i < t->clocks.count; i++) {
        const struct ticker_clock *c = &t->clocks.data[i];
        __atomic_store_n(c->word, c->is_sequence ? timebase_now() : arch_counter(), __ATOMIC_RELAXED);
    }
}

static void *ticker_run(void *of)
{
    struct ticker *t = of;
    pthread_mutex_lock(&t->lock);
    while (!t->is_over) {
        if (t->clocks.count == 0) {
            pthread_cond_wait(&t->changed, &t->lock);
            continue;
        }
        ticker_tick(t);
        pthread_mutex_unlock(&t->lock);
        nanosleep(&(struct timespec){0, TICKER_NS}, NULL);
        pthread_mutex_lock(&t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

void ticker_init(struct ticker *t)
{
    memset(t, 0, sizeof *t);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
}

/* Signals stay those of the thread that has started it. */
static bool ticker_start(struct ticker *t)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    (void)pthread_attr_setstacksize(&attributes, TICKER_STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    t->has_thread = pthread_create(&t->thread, &attributes, ticker_run, t) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return t->has_thread;
}

bool ticker_add(struct ticker *t, uint64_t *word, bool is_sequence)
{
    if (!t->has_thread && !ticker_start(t))
        return false;
    pthread_mutex_lock(&t->lock);
    bool is_added = vec_push(&t->clocks, ((struct ticker_clock){word, is_sequence}));
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return is_added;
}

void ticker_remove(struct ticker *t, const uint64_t *word)
{
    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < t->clocks.count; i++) {
        if (t->clocks.data[i].word == word)
            t->clocks.data[i] = t->clocks.data[--t->clocks.count];
    }
    pthread_mutex_unlock(&t->lock);
}

void ticker_release(struct ticker *t)
{
    if (t->has_thread) {
        pthread_mutex_lock(&t->lock);
        t->is_over = true;
        pthread_cond_signal(&t->changed);
        pthread_mutex_unlock(&t->lock);
        pthread_join(t->thread, NULL);
    }
    vec_release(&t->clocks);
    t->has_thread = false;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * thread_state: the threads of a process while its events are read: how many
 * allocations each has made so far, and whether the query asks for it.
 *
 * Threads are numbered densely in a sound file; numbers beyond THREAD_STATES_DENSE (a
 * damaged one) go through a map.
 */
#ifndef HW_ENGINE_THREAD_STATE_H
#define HW_ENGINE_THREAD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/query.h"
#include "store/reader.h"
#include "tool/map.h"
#include "tool/vec.h"

enum { THREAD_STATES_DENSE = 1 << 16 };

struct thread_state {
    uint32_t thread;
    uint32_t made;     /* allocations so far; wraps */
    uint64_t newest;   /* number of the latest of them, where scan counts them */
    bool may_allocate; /* among the query's threads */
    bool may_free;     /* among the query's freeing threads */
};

struct thread_states {
    const struct query *query;
    const struct wake_process *process;
    VEC(struct thread_state) all;
    VEC(uint32_t) dense; /* thread -> index in all + 1; 0 = not yet */
    struct map other;
    bool failed; /* no memory: slot 0 was given */
};

/* Whether a thread is among those wanted; NULL: one that is not known. */
bool thread_states_match(const struct query_thread *wanted, size_t count, const struct wake_thread *t);
/* False: no memory. */
bool thread_states_init(struct thread_states *s, const struct query *q, const struct wake_process *p);
void thread_states_release(struct thread_states *s);
/* For thread_states_get. */
uint32_t thread_states_find(struct thread_states *s, uint32_t thread);

/* Which releases of a block are of the allocation that their thread has made last, by index; of other events it means
 * nothing.  The thread column has to be there. */
void thread_states_find_newest(struct thread_states *s, const struct wake_block *b, uint8_t *is_newest);
/* Of each event the index of its thread, and how many allocations that has made, this one included. */
void thread_states_count_made(struct thread_states *s, const struct wake_block *b, uint32_t *slot,
                              uint32_t *made);

/* The index in `all` of a thread. */
static inline uint32_t thread_states_get(struct thread_states *s, uint32_t thread)
{
    uint32_t at = __builtin_expect(thread < s->dense.count, 1) ? s->dense.data[thread] : 0;
    return __builtin_expect(at != 0, 1) ? at - 1 : thread_states_find(s, thread);
}

#endif

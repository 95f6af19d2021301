/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * thread_state: see thread_state.h.
 */
#include "engine/thread_state.h"

#include <string.h>

bool thread_states_match(const struct query_thread *wanted, size_t count, const struct wake_thread *t)
{
    for (size_t i = 0; i < count && t != NULL; i++)
        if (wanted[i].name != NULL ? strcmp(wanted[i].name, t->name) == 0 : wanted[i].tid == t->tid)
            return true;
    return count == 0;
}

static bool thread_states_add(struct thread_states *s, uint32_t thread, uint32_t *index)
{
    const struct query_filter *f = &s->query->filter;
    const struct wake_thread *t = wake_process_find_thread(s->process, thread);
    struct thread_state fresh = {
        .thread = thread,
        .newest = UINT64_MAX,
        .may_allocate = thread_states_match(f->threads.data, f->threads.count, t),
        .may_free = thread_states_match(f->freeing_threads.data, f->freeing_threads.count, t),
    };
    *index = (uint32_t)s->all.count;
    if (!vec_push(&s->all, fresh))
        return false;
    if (thread >= THREAD_STATES_DENSE)
        return map_set(&s->other, thread, *index);
    if (!vec_reserve(&s->dense, (size_t)thread + 1))
        return false;
    while (s->dense.count <= thread)
        s->dense.data[s->dense.count++] = 0;
    s->dense.data[thread] = *index + 1;
    return true;
}

bool thread_states_init(struct thread_states *s, const struct query *q, const struct wake_process *p)
{
    uint32_t index;
    *s = (struct thread_states){.query = q, .process = p};
    map_init(&s->other);
    return thread_states_add(s, 0, &index);
}

void thread_states_release(struct thread_states *s)
{
    vec_release(&s->all);
    vec_release(&s->dense);
    map_release(&s->other);
}

uint32_t thread_states_find(struct thread_states *s, uint32_t thread)
{
    uint32_t index;
    const uint64_t *at = thread < THREAD_STATES_DENSE ? NULL : map_find(&s->other, thread);
    if (at != NULL)
        return (uint32_t)*at;
    if (thread_states_add(s, thread, &index))
        return index;
    s->failed = true;
    return 0;
}

/* Whichever an event is, it looks at the newest block of its thread and may put another in its place. */
static void thread_states_find_newest_of_each(struct thread_states *s, const struct wake_block *b,
                                              uint8_t *is_newest)
{
    const uint32_t *threads = b->thread;
    const uint64_t *numbers = b->number;
    const uint8_t *events = b->event;
    for (uint32_t i = 0, count = b->count; i < count; i++) {
        uint32_t at = thread_states_get(s, threads[i]); /* first: the list may move */
        struct thread_state *slot = &s->all.data[at];
        uint64_t newest = slot->newest, number = numbers[i];
        is_newest[i] = newest == number;
        slot->newest = events[i] == WAKE_ALLOC ? number : newest;
    }
}

/* All events are of one thread, and each is an allocation or a release; allocations are numbered one by one. */
static void thread_states_find_newest_of_one(struct thread_state *slot, const struct wake_block *b,
                                             uint8_t *is_newest)
{
    const uint16_t *releases = b->free_at;
    const uint64_t *numbers = b->number;
    uint32_t count = b->free_count, k = 0;
    for (; k < count && releases[k] == k; k++) /* before the first allocation */
        is_newest[k] = numbers[k] == slot->newest;
    if (b->alloc_count == 0)
        return;
    uint64_t first = numbers[b->alloc_at[0]];
    for (; k < count; k++) {
        uint32_t i = releases[k];
        is_newest[i] = numbers[i] == first + (i - k) - 1; /* i - k allocations were before */
    }
    slot->newest = numbers[b->alloc_at[b->alloc_count - 1]];
}

void thread_states_find_newest(struct thread_states *s, const struct wake_block *b, uint8_t *is_newest)
{
    if (!b->is_of_one_thread || b->is_carried || b->alloc_count + b->free_count != b->count) {
        thread_states_find_newest_of_each(s, b, is_newest);
        return;
    }
    uint32_t at = thread_states_get(s, b->thread[0]);
    thread_states_find_newest_of_one(&s->all.data[at], b, is_newest);
}

void thread_states_count_made(struct thread_states *s, const struct wake_block *b, uint32_t *slot,
                              uint32_t *made)
{
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t at = thread_states_get(s, b->thread[i]);
        s->all.data[at].made += b->event[i] == WAKE_ALLOC;
        slot[i] = at;
        made[i] = s->all.data[at].made;
    }
}

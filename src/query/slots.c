/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * slots: see slots.h.
 */
#include "query/slots.h"

#include <string.h>

static bool slots_match(const struct query_thread *wanted, size_t count, const struct wake_thread *t)
{
    for (size_t i = 0; i < count && t != NULL; i++)
        if (wanted[i].name != NULL ? strcmp(wanted[i].name, t->name) == 0 : wanted[i].tid == t->tid)
            return true;
    return count == 0;
}

static bool slots_add(struct slots *s, uint32_t thread, uint32_t *index)
{
    const struct query_filter *f = &s->query->filter;
    const struct wake_thread *t = wake_process_find_thread(s->process, thread);
    struct slot fresh = {
        .thread = thread,
        .newest = UINT64_MAX,
        .may_allocate = slots_match(f->threads.data, f->threads.count, t),
        .may_free = slots_match(f->freeing_threads.data, f->freeing_threads.count, t),
    };
    *index = (uint32_t)s->all.count;
    if (!vec_push(&s->all, fresh))
        return false;
    if (thread >= SLOTS_DENSE)
        return map_set(&s->other, thread, *index);
    if (!vec_reserve(&s->dense, (size_t)thread + 1))
        return false;
    while (s->dense.count <= thread)
        s->dense.data[s->dense.count++] = 0;
    s->dense.data[thread] = *index + 1;
    return true;
}

bool slots_init(struct slots *s, const struct query *q, const struct wake_process *p)
{
    uint32_t index;
    *s = (struct slots){.query = q, .process = p};
    map_init(&s->other);
    return slots_add(s, 0, &index);
}

void slots_release(struct slots *s)
{
    vec_release(&s->all);
    vec_release(&s->dense);
    map_release(&s->other);
}

uint32_t slots_find(struct slots *s, uint32_t thread)
{
    uint32_t index;
    const uint64_t *at = thread < SLOTS_DENSE ? NULL : map_find(&s->other, thread);
    if (at != NULL)
        return (uint32_t)*at;
    if (slots_add(s, thread, &index))
        return index;
    s->failed = true;
    return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * changes: see changes.h.
 */
#include "collect/changes.h"

#include <string.h>

void changes_release(struct changes *c)
{
    vec_release(&c->last);
}

bool changes_take(struct changes *c, const struct totals *t, struct changes_answer *answer)
{
    memset(answer, 0, sizeof *answer);
    if (!vec_reserve(&c->last, t->count) || !vec_reserve(&answer->list, t->count))
        return false;
    while (c->last.count < t->count)
        c->last.data[c->last.count++] = (struct changes_level){0};
    for (size_t i = 0; i < t->count; i++) {
        const struct totals_stack *s = &t->stacks[i];
        struct changes_level now = {s->allocated_bytes - s->freed_bytes, s->allocations - s->freed};
        struct changes_level *last = &c->last.data[i];
        if (now.bytes == last->bytes && now.blocks == last->blocks)
            continue;
        struct change change = {(int64_t)(now.bytes - last->bytes), (int64_t)(now.blocks - last->blocks),
                                (uint32_t)i};
        answer->list.data[answer->list.count++] = change;
        answer->bytes += change.bytes;
        *last = now;
    }
    answer->live_bytes = t->live_bytes;
    answer->live_blocks = t->live_blocks;
    return true;
}

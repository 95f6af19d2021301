/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * robust: see robust.h.
 */
#include "collect/robust.h"

#include "tool/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct robust_list *robust_entry(struct segment_head *segment)
{
    return (struct robust_list *)(void *)&segment->robust_entry;
}

/* Writes the chain anew: head -> segments[0] -> ... -> head. */
static void robust_chain(struct robust *r)
{
    struct robust_list *next = &r->head.list;
    for (size_t i = 0; i < r->count; i++) {
        __atomic_store_n(&r->segments[i]->robust_entry, (uint64_t)(uintptr_t)next, __ATOMIC_RELAXED);
        next = robust_entry(r->segments[i]);
    }
    r->head.list.next = next;
}

void robust_init(struct robust *r)
{
    memset(r, 0, sizeof *r);
    r->head.list.next = &r->head.list;
    r->head.futex_offset =
        (long)offsetof(struct segment_head, owner) - (long)offsetof(struct segment_head, robust_entry);
    (void)syscall(SYS_set_robust_list, &r->head, sizeof r->head);
}

void robust_release(struct robust *r)
{
    r->count = 0;
    robust_chain(r);
    (void)syscall(SYS_set_robust_list, NULL, sizeof r->head);
    free(r->segments);
    memset(r, 0, sizeof *r);
}

void robust_add(struct robust *r, struct segment_head *segment)
{
    if (r->count == r->room) {
        size_t room = r->room == 0 ? 16 : r->room * 2;
        struct segment_head **moved = memory_resize(r->segments, room * sizeof(struct segment_head *));
        if (moved == NULL)
            return;
        r->segments = moved;
        r->room = room;
    }
    __atomic_store_n(&segment->owner, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
    r->segments[r->count++] = segment;
    robust_chain(r);
}

void robust_remove(struct robust *r, struct segment_head *segment)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->segments[i] == segment) {
            r->segments[i] = r->segments[--r->count];
            robust_chain(r);
            return;
        }
    }
}

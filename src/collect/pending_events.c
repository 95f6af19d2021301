/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pending_events: see pending_events.h.
 */
#include "collect/pending_events.h"

#include <string.h>

bool pending_events_init(struct pending_events *p)
{
    memset(p, 0, sizeof *p);
    map_init(&p->by_address);
    struct pending_events_entry none = {0};
    struct pending_events_queue nobody = {0};
    return vec_push(&p->entries, none) && vec_push(&p->queues, nobody);
}

void pending_events_release(struct pending_events *p)
{
    vec_release(&p->entries);
    vec_release(&p->queues);
    map_release(&p->by_address);
    memset(p, 0, sizeof *p);
}

uint32_t pending_events_find(const struct pending_events *p, uint64_t address)
{
    const uint64_t *queue = map_find(&p->by_address, address);
    return queue == NULL ? 0 : (uint32_t)*queue;
}

static uint32_t pending_events_new_entry(struct pending_events *p)
{
    uint32_t index = p->free_entry;
    if (index != 0) {
        p->free_entry = p->entries.data[index].next;
        return index;
    }
    struct pending_events_entry none = {0};
    if (p->entries.count >= UINT32_MAX || !vec_push(&p->entries, none))
        return 0;
    return (uint32_t)p->entries.count - 1;
}

static uint32_t pending_events_new_queue(struct pending_events *p, uint64_t address)
{
    uint32_t index = p->free_queue;
    if (index != 0) {
        p->free_queue = p->queues.data[index].first;
    } else {
        struct pending_events_queue none = {0};
        if (p->queues.count >= UINT32_MAX || !vec_push(&p->queues, none))
            return 0;
        index = (uint32_t)p->queues.count - 1;
    }
    p->queues.data[index] = (struct pending_events_queue){.address = address};
    if (map_set(&p->by_address, address, index))
        return index;
    p->queues.data[index] = (struct pending_events_queue){.first = p->free_queue};
    p->free_queue = index;
    return 0;
}

bool pending_events_push(struct pending_events *p, const struct item *item, uint64_t address, uint64_t round)
{
    uint32_t entry = pending_events_new_entry(p);
    if (entry == 0)
        return false;
    uint32_t queue = pending_events_find(p, address);
    if (queue == 0)
        queue = pending_events_new_queue(p, address);
    if (queue == 0) {
        p->entries.data[entry].next = p->free_entry;
        p->free_entry = entry;
        return false;
    }
    p->entries.data[entry] = (struct pending_events_entry){.item = *item, .round = round};
    struct pending_events_queue *q = &p->queues.data[queue];
    if (q->last != 0)
        p->entries.data[q->last].next = entry;
    else
        q->first = entry;
    q->last = entry;
    p->count++;
    return true;
}

void pending_events_remove(struct pending_events *p, uint32_t queue, uint32_t before)
{
    struct pending_events_queue *q = &p->queues.data[queue];
    uint32_t entry = before == 0 ? q->first : p->entries.data[before].next;
    uint32_t after = p->entries.data[entry].next;
    if (before == 0)
        q->first = after;
    else
        p->entries.data[before].next = after;
    if (q->last == entry)
        q->last = before;
    p->entries.data[entry].next = p->free_entry;
    p->free_entry = entry;
    p->count--;
    if (q->first == 0) {
        map_remove(&p->by_address, q->address, NULL);
        *q = (struct pending_events_queue){.first = p->free_queue};
        p->free_queue = queue;
    }
}

uint32_t pending_events_find_lane(const struct pending_events *p, uint32_t queue, uint32_t lane)
{
    const struct pending_events_queue *q = &p->queues.data[queue];
    if (p->entries.data[q->last].item.lane == lane)
        return q->last;
    uint32_t found = 0;
    for (uint32_t i = q->first; i != 0; i = p->entries.data[i].next)
        found = p->entries.data[i].item.lane == lane ? i : found;
    return found;
}

uint32_t pending_events_find_release(const struct pending_events *p, uint32_t queue, uint32_t lane,
                                     uint64_t stamp, uint32_t *before)
{
    uint32_t found = 0, front = 0;
    for (uint32_t i = p->queues.data[queue].first; i != 0; i = p->entries.data[i].next) {
        const struct item *item = &p->entries.data[i].item;
        if (item->lane == lane && item->op == ITEM_RELEASE && item->stamp <= stamp) {
            found = i;
            *before = front;
        }
        front = i;
    }
    return found;
}

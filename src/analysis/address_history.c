/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * address_history: see address_history.h.
 */
#include "analysis/address_history.h"

#include <string.h>

#include "engine/pairing.h"
#include "wire/record.h"

struct address_history_block {
    uint64_t address, size, born_ns;
};

struct address_history_work {
    struct address_histories *to;
    uint64_t address;
    uint64_t moved; /* number + 1 of the one that was released last, by realloc: the latest in the list */
    struct watch watch;
};

void address_histories_init(struct address_histories *t)
{
    memset(t, 0, sizeof *t);
}

void address_histories_release(struct address_histories *t)
{
    vec_release(&t->list);
}

static bool address_history_covers(const struct address_history_work *w, uint64_t begin, uint64_t size)
{
    return w->address - begin < (size == 0 ? 1 : size);
}

static struct address_history address_history_of(const struct wake_block *b, uint32_t i)
{
    return (struct address_history){.process = b->process,
                                    .thread = b->thread[i],
                                    .stack = b->stack[i],
                                    .event = b->event[i],
                                    .detail = b->detail[i],
                                    .time_ns = b->time_ns[i],
                                    .address = b->address[i],
                                    .size = b->size[i]};
}

static int address_history_add(struct address_history_work *w, const struct address_history *t)
{
    return vec_push(&w->to->list, *t) ? 0 : ERR_MEMORY;
}

static int address_history_alloc(void *context, const struct wake_block *b, uint32_t i, void *entry)
{
    struct address_history_work *w = context;
    const struct address_history t = address_history_of(b, i);
    if (w->moved != 0 && b->previous[i] == w->moved) /* the stack of a realloc is that of what it gave */
        w->to->list.data[w->to->list.count - 1].stack = b->stack[i];
    w->moved = 0;
    if (!address_history_covers(w, b->address[i], b->size[i]))
        return 0;
    *(struct address_history_block *)entry =
        (struct address_history_block){b->address[i], b->size[i], b->time_ns[i]};
    return address_history_add(w, &t) == 0 ? PAIRING_KEEP : ERR_MEMORY;
}

static int address_history_free(void *context, const struct wake_block *b, uint32_t i, const void *entry)
{
    struct address_history_work *w = context;
    const struct address_history_block *was = entry;
    if (was == NULL)
        return 0;
    struct address_history t = address_history_of(b, i);
    t.address = was->address;
    t.size = was->size;
    w->moved = t.detail == HOW_REALLOC && t.stack == 0 ? b->number[i] + 1 : 0;
    t.lived_ns = b->time_ns[i] - was->born_ns;
    return address_history_add(w, &t);
}

static int address_history_other(void *context, const struct wake_block *b, uint32_t i)
{
    struct address_history_work *w = context;
    const struct address_history t = address_history_of(b, i);
    bool is_mapping = b->event[i] == WAKE_MAP || b->event[i] == WAKE_UNMAP;
    bool is_unknown = b->event[i] == WAKE_FREE_UNKNOWN;
    if (is_mapping || is_unknown)
        w->moved = 0;
    bool touches = (is_mapping && address_history_covers(w, b->address[i], b->size[i])) ||
                   (is_unknown && b->address[i] == w->address);
    return touches ? address_history_add(w, &t) : 0;
}

int address_histories_read(struct address_histories *t, const struct query *q, struct wake_reader *r,
                           uint32_t process, uint64_t address, struct err *err)
{
    const struct wake_process *p = wake_reader_process(r, process);
    struct address_history_work w = {.to = t, .address = address, .watch = {.query = q, .total = p->events}};
    struct pairing blocks; /* that cover the address */
    pairing_init(&blocks, sizeof(struct address_history_block), address_history_alloc, address_history_free,
                 &w);
    blocks.other = address_history_other;
    blocks.watch = &w.watch;
    int code = wake_reader_visit(r, process, 0, UINT64_MAX, pairing_visit, &blocks, err);
    pairing_release(&blocks);
    if (code == ERR_MEMORY)
        return err_no_memory(err);
    return code == WATCH_STOP ? 0 : code;
}

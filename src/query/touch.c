/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * touch: see touch.h.
 */
#include "query/touch.h"

#include <string.h>

#include "query/watch.h"
#include "store/numbered.h"
#include "wire/record.h"

struct touch_block {
    uint64_t address, size, born_ns;
};

struct touch_work {
    struct touches *to;
    uint64_t address;
    struct numbered live; /* blocks that cover the address */
    uint64_t moved; /* number + 1 of the one that was released last, by realloc: the latest in the list */
    struct watch watch;
};

void touches_init(struct touches *t)
{
    memset(t, 0, sizeof *t);
}

void touches_release(struct touches *t)
{
    vec_release(&t->list);
}

static bool touch_covers(const struct touch_work *w, uint64_t begin, uint64_t size)
{
    return w->address - begin < (size == 0 ? 1 : size);
}

static struct touch touch_of(const struct wake_block *b, uint32_t i)
{
    return (struct touch){.process = b->process,
                          .thread = b->thread[i],
                          .stack = b->stack[i],
                          .event = b->event[i],
                          .detail = b->detail[i],
                          .time_ns = b->time_ns[i],
                          .address = b->address[i],
                          .size = b->size[i]};
}

static bool touch_alloc(struct touch_work *w, const struct wake_block *b, uint32_t i)
{
    if (w->moved != 0 && b->previous[i] == w->moved) /* the stack of a realloc is that of what it gave */
        w->to->list.data[w->to->list.count - 1].stack = b->stack[i];
    w->moved = 0;
    if (!touch_covers(w, b->address[i], b->size[i]))
        return true;
    struct touch_block *block = numbered_add(&w->live, b->number[i], sizeof *block);
    if (block == NULL)
        return false;
    *block = (struct touch_block){b->address[i], b->size[i], b->time_ns[i]};
    return vec_push(&w->to->list, touch_of(b, i));
}

static bool touch_free(struct touch_work *w, const struct wake_block *b, uint32_t i)
{
    const struct touch_block *was = numbered_take(&w->live, b->number[i], sizeof *was);
    if (was == NULL)
        return true;
    struct touch t = touch_of(b, i);
    t.address = was->address;
    t.size = was->size;
    w->moved = t.detail == HOW_REALLOC && t.stack == 0 ? b->number[i] + 1 : 0;
    t.lived_ns = b->time_ns[i] - was->born_ns;
    return vec_push(&w->to->list, t);
}

static int touch_visit(const struct wake_block *b, void *context)
{
    struct touch_work *w = context;
    bool fine = true;
    for (uint32_t i = 0; i < b->count && fine; i++) {
        switch (b->event[i]) {
        case WAKE_ALLOC:
            fine = touch_alloc(w, b, i);
            break;
        case WAKE_FREE:
            fine = touch_free(w, b, i);
            break;
        case WAKE_FREE_UNKNOWN:
            w->moved = 0;
            fine = b->address[i] != w->address || vec_push(&w->to->list, touch_of(b, i));
            break;
        case WAKE_MAP:
        case WAKE_UNMAP:
            w->moved = 0;
            fine = !touch_covers(w, b->address[i], b->size[i]) || vec_push(&w->to->list, touch_of(b, i));
            break;
        default:
            break;
        }
    }
    return fine ? watch_advance(&w->watch, b->count) : ERR_MEMORY;
}

int touches_read(struct touches *t, const struct query *q, struct wake_reader *r, uint32_t process,
                 uint64_t address, struct err *err)
{
    const struct wake_process *p = wake_reader_process(r, process);
    struct touch_work w = {.to = t, .address = address, .watch = {.query = q, .total = p->events}};
    numbered_init(&w.live);
    int code = wake_reader_visit(r, process, 0, UINT64_MAX, touch_visit, &w, err);
    numbered_release(&w.live);
    if (code == ERR_MEMORY)
        return err_set(err, ERR_MEMORY, "There is no memory for the history.");
    return code == WATCH_STOP ? 0 : code;
}

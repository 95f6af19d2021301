/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pair: see pair.h.  pair_apply has the common cases inline; whatever does not
 * fit at once goes through pair_fit.c.
 */
#include "collect/pair.h"

#include "collect/pair_fit.h"
#include "collect/pair_quick.h"
#include "collect/pair_store.h"
#include "store/format.h"
#include "tool/memory.h"

#include <stdlib.h>
#include <string.h>

bool pair_init(struct pair *p, struct definitions *book, struct wake_stream *stream, struct timeline *line)
{
    memset(p, 0, sizeof *p);
    p->book = book;
    p->stream = stream;
    p->line = line;
    p->is_alone = true;
    pools_init(&p->pools);
    return blocks_init(&p->blocks) && totals_init(&p->totals, line->last) && pending_events_init(&p->parked);
}

void pair_release(struct pair *p)
{
    blocks_release(&p->blocks);
    totals_release(&p->totals);
    pending_events_release(&p->parked);
    pools_release(&p->pools);
    vec_release(&p->latest);
    vec_release(&p->limbo);
    vec_release(&p->forced);
    vec_release(&p->work);
    memset(p, 0, sizeof *p);
}

bool pair_reserve_thread(struct pair *p, uint32_t thread)
{
    if (!vec_reserve(&p->latest, (size_t)thread + 1))
        return false;
    while (p->latest.count <= thread)
        p->latest.data[p->latest.count++] = 0;
    return true;
}

static void pair_mark(struct pair *p, const struct item *i)
{
    uint64_t time = timeline_mark(p->line, i->stamp);
    const char *name = definitions_text(p->book, i->stack);
    if (i->kind == MARK_ON || i->kind == MARK_OFF)
        name = i->kind == MARK_ON ? FORMAT_MARK_ON : FORMAT_MARK_OFF;
    if (i->kind != MARK_FLUSH && i->kind != MARK_END && i->kind != MARK_DEEP) {
        p->events++;
        wake_stream_mark(p->stream, time, i->thread, name, strlen(name));
    }
    if (p->on_mark != NULL)
        p->on_mark(p->on_mark_of, (enum record_mark)i->kind, name, i->size);
}

/* Of a block that was made while recording was off, or never told of, there is nothing to say. */
static void pair_pool_free(struct pair *p, const struct item *i, uint32_t pool)
{
    struct pools_block block;
    if (!pools_take(&p->pools, pool, i->address, &block))
        return;
    p->events++;
    wake_stream_pool_free(p->stream, pair_time(p, i), i->thread, pool, block.stack, i->address, block.size);
}

static void pair_pool(struct pair *p, const struct item *i)
{
    uint32_t pool = definitions_find_pool(p->book, i->old);
    if (pool == 0)
        return;
    pair_pool_free(p, i, pool); /* also before one is made in its place: a pool may be emptied as a whole */
    if (i->op == ITEM_POOL_FREE)
        return;
    struct pools_block block = {i->size, pair_stack(p, i->stack)};
    if (!pools_add(&p->pools, pool, i->address, &block))
        return;
    p->events++;
    wake_stream_pool_alloc(p->stream, pair_time(p, i), i->thread, pool, block.stack, i->address, i->size);
}

static void pair_note_usage(struct pair *p, uint64_t start, uint64_t length)
{
    if (p->usage != NULL)
        usage_note(p->usage, start, length);
}

/* Events that say nothing about blocks. */
static void pair_other(struct pair *p, const struct item *i)
{
    if (i->op >= ITEM_MARK) {
        if (i->op == ITEM_MARK)
            pair_mark(p, i);
        else
            pair_pool(p, i);
        return;
    }
    uint64_t time = pair_time(p, i);
    char name[16];
    p->events++;
    switch (i->op) {
    case ITEM_MAP:
        pair_note_usage(p, i->address, i->size);
        wake_stream_map(p->stream, time, i->thread, pair_stack(p, i->stack), i->address, i->size,
                        (uint32_t)i->usable, (uint32_t)(i->usable >> 32));
        break;
    case ITEM_UNMAP:
        pair_note_usage(p, i->address, i->size);
        wake_stream_unmap(p->stream, time, i->thread, pair_stack(p, i->stack), i->address, i->size);
        break;
    case ITEM_BRK:
        wake_stream_brk(p->stream, time, i->thread, pair_stack(p, i->stack), i->address, i->size);
        break;
    case ITEM_LOST:
        p->noted_losses += i->size;
        wake_stream_lost(p->stream, time, i->kind, i->size);
        break;
    case ITEM_NAME:
        p->events--;
        memcpy(name, &i->address, 8);
        memcpy(name + 8, &i->size, 8);
        definitions_name_thread(p->book, i->stack, name, time);
        break;
    default:
        p->events--;
        break;
    }
}

/* The usual events, where a run of them is not to be had.  False: look more closely. */
static bool pair_usual(struct pair *p, const struct item *i)
{
    struct block *b;
    if (PAIR_UNLIKELY(p->parked.count != 0))
        return false;
    switch (i->op) {
    case ITEM_ALLOC:
        if (i->kind == KIND_REALLOC)
            return false;
        b = blocks_claim(&p->blocks, i->address);
        if (PAIR_UNLIKELY(b == NULL || b->address != 0))
            return false;
        pair_store_alloc(p, i, b);
        return true;
    case ITEM_FREE:
        b = blocks_find(&p->blocks, i->address);
        if (PAIR_UNLIKELY(b == NULL || b->limbo))
            return false;
        pair_store_free(p, i, i->kind, b);
        return true;
    case ITEM_RELEASE:
        b = blocks_find(&p->blocks, i->address);
        if (PAIR_UNLIKELY(b == NULL || b->limbo))
            return false;
        pair_release_block(p, i, b);
        return true;
    default:
        return false;
    }
}

static void pair_one(struct pair *p, const struct item *folded)
{
    struct item i = item_unfold(folded);
    if (pair_usual(p, &i))
        return;
    if (i.op >= ITEM_MAP)
        pair_other(p, &i);
    else
        pair_fit(p, &i);
}

void pair_apply(struct pair *p, const struct item *items, size_t count)
{
    for (size_t n = pair_quick(p, items, count); n < count; n += pair_quick(p, items + n, count - n))
        pair_one(p, &items[n++]);
}

void pair_apply_each(struct pair *p, const struct item *const *items, size_t count)
{
    for (size_t n = pair_quick_each(p, items, count); n < count;
         n += pair_quick_each(p, items + n, count - n))
        pair_one(p, items[n++]);
}

void pair_end_round(struct pair *p)
{
    p->round++;
    if (p->parked.count != 0)
        pair_settle(p, 2);
}

void pair_finish(struct pair *p)
{
    while (p->parked.count != 0)
        pair_settle(p, 0);
}

static int pair_compare(const void *a, const void *b)
{
    const struct wake_live_block *x = a, *y = b;
    return x->allocation < y->allocation ? -1 : x->allocation > y->allocation;
}

struct wake_live_block *pair_live(const struct pair *p, size_t *count)
{
    *count = p->made - p->released;
    if (*count == 0)
        return NULL;
    struct wake_live_block *live = memory_new(*count * sizeof *live);
    if (live == NULL)
        return NULL;
    size_t n = 0;
    for (size_t i = 0; i < p->blocks.room && n < *count; i++) {
        const struct block *b = &p->blocks.slots[i];
        if (b->address != 0 && !b->ghost)
            live[n++] = (struct wake_live_block){.allocation = block_number(b),
                                                 .address = b->address,
                                                 .size = b->size,
                                                 .stack = (uint32_t)b->stack};
    }
    qsort(live, n, sizeof *live, pair_compare);
    *count = n;
    return live;
}

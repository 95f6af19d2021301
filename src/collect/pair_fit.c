/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pair_fit: see pair_fit.h and the rules in pair.h.
 */
#include "collect/pair_fit.h"

#include "collect/pair_store.h"

enum {
    PAIR_FEW = 4096,  /* more reallocs than this that never end are forgotten */
    PAIR_SKEW_US = 2, /* by more than this no two CPUs' stamps are out */
};

/* The queue of this address may fit now. */
static void pair_stir(struct pair *p, uint64_t address)
{
    if (p->parked.count != 0 && !vec_push(&p->work, address))
        p->out_of_memory = true;
}

void pair_note_limbo(struct pair *p, const struct item *i)
{
    struct pair_limbo l = {i->address, i->stamp, i->lane, i->thread};
    if (p->limbo.count == PAIR_FEW)
        p->limbo.data[0] = p->limbo.data[--p->limbo.count];
    if (!vec_push(&p->limbo, l))
        p->out_of_memory = true;
}

/* The block is not in limbo any more.  Returns whose release it was. */
static struct pair_limbo pair_end_limbo(struct pair *p, uint64_t address)
{
    struct pair_limbo l = {address, 0, PAIR_ANY_LANE, 0};
    for (size_t n = p->limbo.count; n-- > 0;) {
        if (p->limbo.data[n].address != address)
            continue;
        l = p->limbo.data[n];
        p->limbo.data[n] = p->limbo.data[--p->limbo.count];
        break;
    }
    return l;
}

/* Is the block in limbo, and because of the release that this realloc began with? */
static bool pair_is_own_limbo(const struct pair *p, const struct block *b, const struct item *i)
{
    if (b == NULL || !b->limbo)
        return false;
    for (size_t n = p->limbo.count; n-- > 0;) {
        const struct pair_limbo *l = &p->limbo.data[n];
        if (l->address == b->address)
            return l->lane == i->lane && l->stamp <= i->stamp;
    }
    return true; /* not noted: there was one lane then */
}

/* Frees a block in limbo before its realloc is complete, since i has got its address. */
static void pair_force(struct pair *p, const struct item *i, struct block *b)
{
    struct pair_limbo l = pair_end_limbo(p, b->address);
    struct item release = *i;
    release.old = 0;               /* its stack is not that of the release */
    if (l.lane != PAIR_ANY_LANE) { /* else there was one lane then */
        release.thread = l.thread;
        release.stamp = l.stamp;
    }
    struct pair_forced f = {b->address, b->ghost ? 0 : block_number(b) + 1, l.stamp, l.lane};
    if (p->forced.count == PAIR_FEW) {
        for (size_t n = 1; n < p->forced.count; n++)
            p->forced.data[n - 1] = p->forced.data[n];
        p->forced.count--;
    }
    if (!vec_push(&p->forced, f))
        p->out_of_memory = true;
    if (b->ghost) {
        pair_store_unknown(p, &release, HOW_REALLOC, b->address);
        blocks_remove(&p->blocks, b);
    } else {
        pair_store_free(p, &release, HOW_REALLOC, b);
    }
}

/* Was the block that this realloc is about freed by force?  Forgets it. */
static bool pair_take_forced(struct pair *p, uint64_t address, const struct item *i, uint64_t *previous)
{
    size_t found = p->forced.count;
    for (size_t n = 0; n < p->forced.count; n++) {
        const struct pair_forced *f = &p->forced.data[n];
        if (f->address == address && (f->lane == i->lane || f->lane == PAIR_ANY_LANE) && f->stamp <= i->stamp)
            found = n;
    }
    if (found == p->forced.count)
        return false;
    *previous = p->forced.data[found].previous;
    for (size_t n = found + 1; n < p->forced.count; n++)
        p->forced.data[n - 1] = p->forced.data[n];
    p->forced.count--;
    return true;
}

static struct block *pair_find(struct pair *p, uint64_t address)
{
    return address == 0 || address > BLOCKS_ADDRESS_MAX ? NULL : blocks_find(&p->blocks, address);
}

/* The release that this realloc began with, if it is parked; 0 = it is not. */
static uint32_t pair_parked_release(struct pair *p, uint64_t address, const struct item *i, uint32_t *before)
{
    uint32_t queue = p->parked.count == 0 ? 0 : pending_events_find(&p->parked, address);
    return queue == 0 ? 0 : pending_events_find_release(&p->parked, queue, i->lane, i->stamp, before);
}

/* The old block of a realloc that has succeeded: frees it and settles
 * i->previous.  False: its release still waits; so must this. */
static bool pair_link(struct pair *p, struct item *i)
{
    uint32_t before;
    uint32_t release = pair_parked_release(p, i->old, i, &before);
    if (release != 0 && i->old != i->address) {
        p->parked.entries.data[release].wake = i->address;
        return false;
    }
    i->linked = 1;
    struct block *b = pair_find(p, i->old);
    if (!pair_is_own_limbo(p, b, i)) {
        (void)pair_take_forced(p, i->old, i, &i->previous);
        return true; /* not forced either: its release was lost, a plain allocation then */
    }
    pair_end_limbo(p, i->old);
    if (b->ghost) {
        pair_store_unknown(p, i, HOW_REALLOC, i->old);
        blocks_remove(&p->blocks, b);
    } else {
        i->previous = block_number(b) + 1;
        pair_store_free(p, i, HOW_REALLOC, b);
    }
    if (i->old != i->address)
        pair_stir(p, i->old);
    return true;
}

static bool pair_try_alloc(struct pair *p, struct item *i)
{
    if (i->kind == KIND_REALLOC && !i->linked && !pair_link(p, i))
        return false;
    if ((i->traits & ITEM_SUPPRESSED) != 0 && i->previous == 0) {
        if (p->filter != NULL)
            filter_drop(p->filter, i->address);
        return true;
    }
    struct block *b = blocks_find(&p->blocks, i->address);
    if (b != NULL) {
        if (!b->limbo)
            return false;
        pair_force(p, i, b);
    }
    b = blocks_claim(&p->blocks, i->address);
    if (b == NULL) {
        p->out_of_memory = true;
        p->dropped++;
        return true;
    }
    pair_store_alloc(p, i, b);
    pair_stir(p, i->address);
    return true;
}

/* The realloc of i->address came to nothing, or freed the block. */
static void pair_end_realloc(struct pair *p, const struct item *i)
{
    uint64_t previous;
    uint32_t before;
    uint32_t release = pair_parked_release(p, i->address, i, &before);
    if (release != 0) {
        if (i->op == ITEM_REALLOC_FREED)
            p->parked.entries.data[release].item.op = ITEM_FREE;
        else
            pending_events_remove(&p->parked, pending_events_find(&p->parked, i->address), before);
        return;
    }
    struct block *b = pair_find(p, i->address);
    if (!pair_is_own_limbo(p, b, i)) {
        (void)pair_take_forced(p, i->address, i, &previous);
        return;
    }
    pair_end_limbo(p, i->address);
    if (b->ghost && i->op == ITEM_REALLOC_FREED)
        pair_store_unknown(p, i, HOW_REALLOC, i->address);
    if (b->ghost)
        blocks_remove(&p->blocks, b);
    else if (i->op == ITEM_REALLOC_FREED)
        pair_store_free(p, i, HOW_REALLOC, b);
    else
        b->limbo = 0;
    pair_stir(p, i->address);
}

/* True: it fitted and is done. */
static bool pair_try(struct pair *p, struct item *i)
{
    struct block *b;
    switch (i->op) {
    case ITEM_ALLOC:
        return pair_try_alloc(p, i);
    case ITEM_FREE:
    case ITEM_RELEASE:
        b = blocks_find(&p->blocks, i->address);
        if (b == NULL || b->limbo)
            return false;
        if (i->op == ITEM_RELEASE)
            pair_release_block(p, i, b);
        else
            pair_store_free(p, i, i->kind, b);
        pair_stir(p, i->address);
        return true;
    default:
        pair_end_realloc(p, i);
        return true;
    }
}

/* Applies a realloc without its release, which still waits for its own block: then that is freed, and no chain. */
static void pair_give_up_link(struct pair *p, struct item *i)
{
    uint32_t before, release = 0;
    if (i->kind == KIND_REALLOC && !i->linked && i->old != i->address)
        release = pair_parked_release(p, i->old, i, &before);
    if (release != 0)
        p->parked.entries.data[release].item.op = ITEM_FREE;
    i->linked = 1;
}

/* Nothing can make this fit any more. */
static void pair_decide(struct pair *p, struct item *i)
{
    struct block *b = blocks_find(&p->blocks, i->address);
    if (i->op == ITEM_ALLOC) {
        pair_give_up_link(p, i);
        if (b != NULL && !b->limbo) { /* one in limbo is freed by pair_try_alloc, if it is a block at all */
            p->implied_frees++;
            pair_store_free(p, i, HOW_FREE, b);
        }
        (void)pair_try_alloc(p, i);
    } else if (b != NULL) { /* in limbo for ever: its realloc never ended */
        pair_end_limbo(p, i->address);
        if (b->ghost)
            blocks_remove(&p->blocks, b);
        else
            pair_store_free(p, i, i->kind, b);
    } else if (i->op == ITEM_FREE) {
        pair_store_unknown(p, i, i->kind, i->address);
    } else if ((b = blocks_claim(&p->blocks, i->address)) != NULL) {
        block_set(b, i->address, 0, 0, 0);
        b->ghost = 1;
        p->blocks.count++;
        pair_release_block(p, i, b);
    } else {
        p->out_of_memory = true;
    }
    pair_stir(p, i->address);
}

/* The first entry of the queue that fits is applied; false: none does. */
static bool pair_try_queue(struct pair *p, uint32_t queue)
{
    enum { LANES = 64 };
    uint32_t blocked[LANES], blocked_count = 0, before = 0;
    for (uint32_t e = p->parked.queues.data[queue].first; e != 0; e = p->parked.entries.data[e].next) {
        struct item item = p->parked.entries.data[e].item;
        bool behind = false;
        for (uint32_t n = 0; n < blocked_count; n++)
            behind |= blocked[n] == item.lane;
        if (!behind) {
            uint64_t wake = p->parked.entries.data[e].wake;
            if (pair_try(p, &item)) {
                pending_events_remove(&p->parked, queue, before);
                if (wake != 0)
                    pair_stir(p, wake);
                return true;
            }
            p->parked.entries.data[e].item = item; /* what is settled stays settled */
            if (blocked_count == LANES)
                return false;
            blocked[blocked_count++] = item.lane;
        }
        before = e;
    }
    return false;
}

static void pair_work(struct pair *p)
{
    while (p->work.count != 0) {
        uint64_t address = p->work.data[--p->work.count];
        uint32_t queue;
        while (p->parked.count != 0 && (queue = pending_events_find(&p->parked, address)) != 0) {
            if (!pair_try_queue(p, queue))
                break;
        }
    }
}

/* An allocation has come: decides the releases at the head of its address's queue that are stamped well before it
 * (rule 5), or are its lane's own and have waited for a round, and applies what has waited behind them: it is older
 * too. */
static void pair_decide_older(struct pair *p, const struct item *i)
{
    uint64_t margin = p->line->is_sequence ? 0 : PAIR_SKEW_US * p->line->time->quantum;
    uint32_t queue;
    while (p->parked.count != 0 && (queue = pending_events_find(&p->parked, i->address)) != 0 &&
           blocks_find(&p->blocks, i->address) == NULL) {
        struct pending_events_entry e = p->parked.entries.data[p->parked.queues.data[queue].first];
        bool is_older = (e.item.lane == i->lane && e.round < p->round) || e.item.stamp + margin < i->stamp;
        if (e.item.op == ITEM_ALLOC || !is_older)
            break;
        pending_events_remove(&p->parked, queue, 0);
        pair_decide(p, &e.item);
        if (e.wake != 0)
            pair_stir(p, e.wake);
        pair_work(p);
    }
}

void pair_fit(struct pair *p, const struct item *given)
{
    struct item i = *given;
    if (i.op == ITEM_ALLOC && p->parked.count != 0 && pair_has_gaps(p))
        pair_decide_older(p, &i);
    bool ends = i.op == ITEM_REALLOC_FAILED || i.op == ITEM_REALLOC_FREED;
    uint32_t queue = p->parked.count == 0 ? 0 : pending_events_find(&p->parked, i.address);
    bool behind = !ends && queue != 0 && pending_events_find_lane(&p->parked, queue, i.lane) != 0;
    if (behind && i.op == ITEM_ALLOC && i.kind == KIND_REALLOC && i.old != i.address)
        (void)pair_link(p, &i); /* whatever it waits for, its old block is gone */
    if (behind || !pair_try(p, &i)) {
        if (p->is_alone && !behind) {
            pair_decide(p, &i);
        } else if (!pending_events_push(&p->parked, &i, i.address, p->round)) {
            p->out_of_memory = true;
            p->dropped++;
        }
    }
    pair_work(p);
}

void pair_settle(struct pair *p, uint64_t rounds)
{
    for (uint32_t q = 1; q < p->parked.queues.count && p->parked.count != 0; q++) {
        while (p->parked.queues.data[q].address != 0) {
            uint32_t first = p->parked.queues.data[q].first;
            const struct pending_events_entry *e = &p->parked.entries.data[first];
            if (p->round < e->round + rounds)
                break;
            struct item item = e->item;
            uint64_t wake = e->wake;
            pending_events_remove(&p->parked, q, 0);
            if (!pair_try(p, &item))
                pair_decide(p, &item);
            if (wake != 0)
                pair_stir(p, wake);
            pair_work(p);
        }
    }
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * advice: see advice.h; the list is made by advice_list.c.
 *
 * One reading of the events.  A block remembers its realloc chain; when realloc
 * releases it, it waits in `between` for the block that continues it.
 */
#include "analysis/advice.h"

#include <stdlib.h>
#include <string.h>

#include "engine/pairing.h"
#include "engine/thread_state.h"
#include "store/weight.h"
#include "tool/memory.h"
#include "wire/record.h"

struct advice_block {
    uint64_t address, size, usable, born_ns;
    uint64_t steps, copied; /* of its chain so far */
    uint64_t weight;        /* blocks that it stands for */
    uint32_t stack, slot, made;
    bool is_aligned;
};

struct advice_work {
    struct advice_row *rows; /* by stack */
    size_t count;
    struct weight_rule rule;
    bool knows_order; /* and so which blocks are temporary */
    struct numbered between;
    struct thread_states slots;
    struct watch watch;
};

void advices_init(struct advices *a)
{
    memset(a, 0, sizeof *a);
}

void advices_release(struct advices *a)
{
    vec_release(&a->rows);
    vec_release(&a->list);
}

static bool advice_is_aligned(unsigned kind)
{
    return (kind >= KIND_MEMALIGN && kind <= KIND_PVALLOC) || kind == KIND_NEW_ALIGNED ||
           kind == KIND_NEW_ARRAY_ALIGNED;
}

static uint64_t advice_overhead(const struct advice_block *b)
{
    return (b->usable > b->size ? b->usable - b->size : 0) + ADVICE_HEADER;
}

static void advice_count_birth(struct advice_row *r, const struct advice_block *b)
{
    r->events++;
    r->blocks += b->weight;
    if (b->size <= ADVICE_TINY) {
        r->tiny += b->weight;
        r->tiny_live += b->weight;
        r->tiny_overhead += b->weight * advice_overhead(b);
        r->tiny_most = r->tiny_live > r->tiny_most ? r->tiny_live : r->tiny_most;
        if (r->tiny_overhead > r->tiny_overhead_max)
            r->tiny_overhead_max = r->tiny_overhead;
    }
    if (b->is_aligned) {
        r->aligned += b->weight;
        r->aligned_bits |= b->address;
        r->aligned_bytes += b->weight * b->size;
        r->aligned_live += b->weight;
        r->aligned_most = r->aligned_live > r->aligned_most ? r->aligned_live : r->aligned_most;
    }
}

static void advice_end_chain(struct advice_work *w, const struct advice_block *b)
{
    struct advice_row *r = &w->rows[b->stack];
    if (b->steps < 2 || w->rule.rate != 0)
        return;
    r->chains++;
    r->steps += b->steps;
    r->copied_bytes += b->copied;
    r->largest = b->size > r->largest ? b->size : r->largest;
}

static int advice_birth(void *context, const struct wake_block *b, uint32_t i, void *entry)
{
    struct advice_work *w = context;
    uint32_t slot = thread_states_get(&w->slots, b->thread[i]);
    struct advice_block fresh = {.address = b->address[i],
                                 .size = b->size[i],
                                 .usable = b->usable[i],
                                 .born_ns = b->time_ns[i],
                                 .weight = weight_of(&w->rule, b->number[i], b->size[i]).blocks,
                                 .stack = b->stack[i] < w->count ? b->stack[i] : 0,
                                 .slot = slot,
                                 .made = ++w->slots.all.data[slot].made,
                                 .is_aligned = advice_is_aligned(b->detail[i])};
    if (b->detail[i] == KIND_REALLOC && b->previous[i] != 0) {
        const struct advice_block *old = numbered_take(&w->between, b->previous[i] - 1, sizeof *old);
        if (old != NULL) {
            fresh.steps = old->steps + 1;
            fresh.copied = old->copied;
            if (old->address != fresh.address)
                fresh.copied += old->size < fresh.size ? old->size : fresh.size;
        }
    }
    *(struct advice_block *)entry = fresh;
    advice_count_birth(&w->rows[fresh.stack], &fresh);
    return w->slots.failed ? ERR_MEMORY : PAIRING_KEEP;
}

static int advice_death(void *context, const struct wake_block *b, uint32_t i, const void *entry)
{
    struct advice_work *w = context;
    const struct advice_block *was = entry;
    uint32_t slot = thread_states_get(&w->slots, b->thread[i]);
    if (was == NULL)
        return 0;
    struct advice_row *r = &w->rows[was->stack];
    if (was->size <= ADVICE_TINY) {
        r->tiny_live -= was->weight;
        r->tiny_overhead -= was->weight * advice_overhead(was);
    }
    r->aligned_live -= was->is_aligned ? was->weight : 0;
    if (b->detail[i] == HOW_REALLOC) {
        struct advice_block *waits = numbered_add(&w->between, b->number[i], sizeof *waits);
        if (waits != NULL)
            *waits = *was;
        return waits != NULL ? 0 : ERR_MEMORY;
    }
    r->crossed += was->slot != slot ? was->weight : 0;
    r->temporaries += w->knows_order && was->slot == slot && w->slots.all.data[slot].made == was->made;
    if (was->size >= ADVICE_LARGE && b->time_ns[i] - was->born_ns <= ADVICE_SHORT_NS) {
        r->shorts += was->weight;
        r->short_bytes += was->weight * was->size;
    }
    advice_end_chain(w, was);
    return w->slots.failed ? ERR_MEMORY : 0;
}

/* Chains that are not over when the process is. */
static void advice_end_chains(struct advice_work *w, const struct numbered *n)
{
    struct numbered_walk at = {0};
    uint64_t number;
    for (const struct advice_block *b; (b = numbered_next(n, &at, &number, sizeof *b)) != NULL;)
        advice_end_chain(w, b);
}

static bool advice_take(struct advices *a, const struct advice_work *w, uint32_t process)
{
    for (size_t i = 0; i < w->count; i++) {
        if (w->rows[i].blocks == 0)
            continue;
        struct advice_row row = w->rows[i];
        row.process = process;
        row.stack = (uint32_t)i;
        row.is_sampled = w->rule.rate != 0;
        if (!vec_push(&a->rows, row))
            return false;
    }
    return true;
}

int advices_read(struct advices *a, const struct query *q, struct wake_reader *r, uint32_t process,
                 uint32_t base, struct err *err)
{
    const struct wake_process *p = wake_reader_process(r, process);
    struct advice_work w = {.count = p->stacks.count == 0 ? 1 : p->stacks.count,
                            .rule = p->rule,
                            .knows_order = wake_process_knows_order(p),
                            .watch = {.query = q, .total = p->events}};
    a->is_sampled = a->is_sampled || w.rule.rate != 0;
    a->left_out += wake_process_omitted(p);
    struct pairing blocks;
    pairing_init(&blocks, sizeof(struct advice_block), advice_birth, advice_death, &w);
    blocks.watch = &w.watch;
    numbered_init(&w.between);
    w.rows = memory_new_zeroed(w.count, sizeof *w.rows);
    bool fine = thread_states_init(&w.slots, q, p) && w.rows != NULL;
    int code = fine ? wake_reader_visit(r, process, 0, UINT64_MAX, pairing_visit, &blocks, err) : ERR_MEMORY;
    if (fine && (code == 0 || code == WATCH_STOP)) {
        advice_end_chains(&w, &blocks.live);
        advice_end_chains(&w, &w.between);
        code = advice_take(a, &w, base + process) ? 0 : ERR_MEMORY;
    }
    pairing_release(&blocks);
    numbered_release(&w.between);
    thread_states_release(&w.slots);
    free(w.rows);
    return code == ERR_MEMORY ? err_no_memory(err) : code;
}

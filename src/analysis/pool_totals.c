/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pool_totals: see pool_totals.h.  One reading of the events of each process that has
 * pools; memory goes by their live blocks and stacks.
 */
#include "analysis/pool_totals.h"

#include "base/sorted.h"
#include "tool/memory.h"

#include <stdlib.h>
#include <string.h>

/* A block of a pool that is live. */
struct pool_total_block {
    uint64_t address, size;
    struct pool_total *account;
};

/* The reading of one process. */
struct pool_total_reading {
    const struct wake_process *process;
    struct pool_total **accounts; /* `count` of them, this process's */
    size_t count;
    struct map live; /* hash of account and address -> index in blocks */
    VEC(struct pool_total_block) blocks;
    bool out_of_memory;
};

void pool_totals_init(struct pool_totals *a)
{
    memset(a, 0, sizeof *a);
}

void pool_totals_release(struct pool_totals *a)
{
    for (size_t i = 0; i < a->list.count; i++) {
        struct pool_total *one = a->list.data[i];
        vec_release(&one->sites);
        vec_release(&one->holders);
        map_release(&one->slots);
        free(one);
    }
    vec_release(&a->list);
}

static struct pool_total *pool_total_find(const struct pool_total_reading *g, uint64_t number)
{
    for (size_t i = 0; i < g->count; i++) {
        if (g->accounts[i]->pool->number == number)
            return g->accounts[i];
    }
    return NULL;
}

static struct pool_total_site *pool_total_site(struct pool_total_reading *g, struct pool_total *a,
                                               uint32_t stack)
{
    const uint64_t *known = map_find(&a->slots, stack);
    if (known != NULL)
        return &a->sites.data[*known];
    if (!map_set(&a->slots, stack, a->sites.count) ||
        !vec_push(&a->sites, (struct pool_total_site){.stack = stack})) {
        g->out_of_memory = true;
        return NULL;
    }
    return &a->sites.data[a->sites.count - 1];
}

/* Pools are few: the number takes the bits that no address has. */
static uint64_t pool_total_key(const struct pool_total *a, uint64_t address)
{
    return address ^ (uint64_t)a->pool->number << 48;
}

static void pool_total_make(struct pool_total_reading *g, struct pool_total *a, const struct wake_block *b,
                            uint32_t i)
{
    struct pool_total_site *s = pool_total_site(g, a, b->stack[i]);
    if (s == NULL)
        return;
    s->made += b->size[i];
    s->made_blocks++;
    s->live += b->size[i];
    s->live_blocks++;
    a->made += b->size[i];
    a->made_blocks++;
    a->live += b->size[i];
    a->live_blocks++;
    if (a->live > a->peak) {
        a->peak = a->live;
        a->peak_blocks = a->live_blocks;
        a->peak_time_ns = b->time_ns[i];
    }
    struct pool_total_block block = {b->address[i], b->size[i], a};
    if (!map_set(&g->live, pool_total_key(a, b->address[i]), g->blocks.count) || !vec_push(&g->blocks, block))
        g->out_of_memory = true;
}

/* A damaged file may release what it never made: then nothing is taken away. */
static void pool_total_release(struct pool_total_reading *g, struct pool_total *a, const struct wake_block *b,
                               uint32_t i)
{
    uint64_t index;
    if (!map_remove(&g->live, pool_total_key(a, b->address[i]), &index))
        return;
    struct pool_total_site *s = pool_total_site(g, a, b->stack[i]);
    uint64_t size = g->blocks.data[index].size;
    if (s == NULL || s->live < size || s->live_blocks == 0)
        return;
    s->live -= size;
    s->live_blocks--;
    a->live -= size;
    a->live_blocks--;
    a->freed += size;
    a->freed_blocks++;
}

static int pool_total_visit(const struct wake_block *b, void *context)
{
    struct pool_total_reading *g = context;
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->event[i] != WAKE_POOL_ALLOC && b->event[i] != WAKE_POOL_FREE)
            continue;
        struct pool_total *a = pool_total_find(g, b->number[i]);
        if (a == NULL)
            continue;
        if (b->event[i] == WAKE_POOL_ALLOC)
            pool_total_make(g, a, b, i);
        else
            pool_total_release(g, a, b, i);
    }
    return g->out_of_memory ? 1 : 0;
}

/* -------------------------------------------------------------------- holders */

static int pool_total_compare_live(const void *left, const void *right)
{
    const struct wake_live_block *a = left, *b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

/* The heap block around an address, of those sorted; NULL: none. */
static const struct wake_live_block *pool_total_around(const struct wake_live_block *sorted, size_t count,
                                                       uint64_t address)
{
    size_t next = sorted_up_to_by(sorted, count, address, address);
    return next > 0 && address - sorted[next - 1].address < sorted[next - 1].size ? &sorted[next - 1] : NULL;
}

static bool pool_total_hold(struct pool_total *a, uint32_t stack, uint64_t size)
{
    size_t i = 0;
    while (i < a->holders.count && a->holders.data[i].stack != stack)
        i++;
    if (i == a->holders.count && !vec_push(&a->holders, (struct pool_total_holder){.stack = stack}))
        return false;
    a->holders.data[i].size += size;
    a->holders.data[i].blocks++;
    return true;
}

static bool pool_total_find_holders(struct pool_total_reading *g)
{
    size_t count = g->process->live.count, at = 0;
    uint64_t key, index;
    struct wake_live_block *sorted = memory_new((count + 1) * sizeof *sorted);
    bool done = sorted != NULL;
    if (done && count != 0) {
        memcpy(sorted, g->process->live.data, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, pool_total_compare_live);
    }
    while (done && map_next(&g->live, &at, &key, &index)) {
        const struct pool_total_block *b = &g->blocks.data[index];
        const struct wake_live_block *around = pool_total_around(sorted, count, b->address);
        if (around != NULL)
            done = pool_total_hold(b->account, around->stack, b->size);
    }
    free(sorted);
    return done;
}

static int pool_total_compare_sites(const void *left, const void *right)
{
    const struct pool_total_site *a = left, *b = right;
    if (a->live != b->live)
        return a->live > b->live ? -1 : 1;
    if (a->made != b->made)
        return a->made > b->made ? -1 : 1;
    return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static int pool_total_compare_holders(const void *left, const void *right)
{
    const struct pool_total_holder *a = left, *b = right;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static void pool_total_sort(struct pool_total *a)
{
    if (a->sites.count > 1)
        qsort(a->sites.data, a->sites.count, sizeof *a->sites.data, pool_total_compare_sites);
    if (a->holders.count > 1)
        qsort(a->holders.data, a->holders.count, sizeof *a->holders.data, pool_total_compare_holders);
}

/* -------------------------------------------------------------------- reading */

static bool pool_totals_open(struct pool_totals *a, const struct wake_process *p, uint32_t process)
{
    for (size_t i = 0; i < p->pools.count; i++) {
        struct pool_total *one = memory_new_zeroed(1, sizeof *one);
        if (one == NULL || !vec_push(&a->list, one)) {
            free(one);
            return false;
        }
        one->process = process;
        one->pool = &p->pools.data[i];
        map_init(&one->slots);
    }
    return true;
}

static int pool_totals_read_process(struct pool_totals *a, struct wake_reader *r, size_t process,
                                    uint32_t base, struct err *err)
{
    struct pool_total_reading g = {.process = wake_reader_process(r, process)};
    size_t first = a->list.count;
    if (g.process->pools.count == 0)
        return 0;
    map_init(&g.live);
    g.out_of_memory = !pool_totals_open(a, g.process, base + (uint32_t)process);
    g.accounts = a->list.data + first;
    g.count = a->list.count - first;
    int code = 0;
    if (!g.out_of_memory)
        code = wake_reader_visit(r, process, 0, UINT64_MAX, pool_total_visit, &g, err);
    if (code >= 0 && (g.out_of_memory || !pool_total_find_holders(&g)))
        code = err_no_memory(err);
    for (size_t i = 0; i < g.count; i++)
        pool_total_sort(g.accounts[i]);
    map_release(&g.live);
    vec_release(&g.blocks);
    return code;
}

int pool_totals_read(struct pool_totals *a, struct wake_reader *r, uint32_t base, struct err *err)
{
    int code = 0;
    for (size_t i = 0; i < wake_reader_process_count(r) && code == 0; i++)
        code = pool_totals_read_process(a, r, i, base, err);
    return code;
}

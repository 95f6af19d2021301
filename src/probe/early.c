/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * early: a bump pool and a list of its blocks.
 *
 *     early_pool   | block | block | gap | block | ...
 *     early_list   { offset, size, state } { ... } in order of their birth
 *
 * Entries are claimed with one atomic add and become valid when `state` is
 * stored; replay stops at the first that is not.
 */
#include "probe/early.h"

#include "probe/event.h"
#include "probe/sampling.h"

enum { EARLY_BLOCKS_MAX = 4096 };

enum early_state {
    EARLY_RESERVED = 0,
    EARLY_LIVE = 1,
    EARLY_FREED = 2,
};

struct early_block {
    uint32_t offset;
    uint32_t size;
    uint32_t state;
};

_Alignas(4096) unsigned char early_pool[EARLY_POOL_SIZE];
static struct early_block early_list[EARLY_BLOCKS_MAX];
static uint32_t early_used;
static uint32_t early_count;
static uint32_t early_told;

void *early_alloc(size_t size, size_t alignment)
{
    if (alignment < EARLY_ALIGNMENT)
        alignment = EARLY_ALIGNMENT;
    if (size > EARLY_POOL_SIZE / 2 || alignment > EARLY_POOL_SIZE / 4 || (alignment & (alignment - 1)) != 0)
        return NULL;
    uint32_t from = __atomic_load_n(&early_used, __ATOMIC_RELAXED);
    uint32_t offset, end;
    do {
        offset = (uint32_t)((from + alignment - 1) & ~(alignment - 1));
        end = offset + (uint32_t)(size == 0 ? 1 : size);
        if (end > EARLY_POOL_SIZE)
            return NULL;
    } while (!__atomic_compare_exchange_n(&early_used, &from, end, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    uint32_t index = __atomic_fetch_add(&early_count, 1, __ATOMIC_ACQ_REL);
    if (index >= EARLY_BLOCKS_MAX)
        return NULL;
    early_list[index].offset = offset;
    early_list[index].size = (uint32_t)size;
    __atomic_store_n(&early_list[index].state, EARLY_LIVE, __ATOMIC_RELEASE);
    sampling_warn_of(early_pool + offset);
    return early_pool + offset;
}

const unsigned char *early_end(void)
{
    return early_pool + __atomic_load_n(&early_used, __ATOMIC_SEQ_CST);
}

static struct early_block *early_find(const void *block)
{
    uint32_t offset = (uint32_t)((uintptr_t)block - (uintptr_t)early_pool);
    uint32_t count = __atomic_load_n(&early_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && i < EARLY_BLOCKS_MAX; i++) {
        if (early_list[i].offset == offset && __atomic_load_n(&early_list[i].state, __ATOMIC_ACQUIRE))
            return &early_list[i];
    }
    return NULL;
}

void early_free(void *block)
{
    struct early_block *found = early_find(block);
    if (found != NULL)
        __atomic_store_n(&found->state, EARLY_FREED, __ATOMIC_RELEASE);
}

size_t early_size(const void *block)
{
    const struct early_block *found = early_find(block);
    return found != NULL ? found->size : 0;
}

void early_replay(struct lane *lane)
{
    uint32_t count = __atomic_load_n(&early_count, __ATOMIC_ACQUIRE);
    uint32_t told = __atomic_load_n(&early_told, __ATOMIC_RELAXED);
    while (told < count && told < EARLY_BLOCKS_MAX) {
        const struct early_block *block = &early_list[told];
        uint32_t state = __atomic_load_n(&block->state, __ATOMIC_ACQUIRE);
        if (state == EARLY_RESERVED)
            return;
        if (!__atomic_compare_exchange_n(&early_told, &told, told + 1, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        event_put_early(lane, early_pool + block->offset, block->size);
        if (state == EARLY_FREED)
            event_put_free(lane, early_pool + block->offset, HOW_FREE);
        told++;
    }
}

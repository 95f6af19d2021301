/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stack: the intern cache.
 *
 *     bucket = hash:  | key | id | key | id |     key = hash ^ id
 *
 * A stack is known by 64 bits of hash over all its addresses, the module
 * generation, where it was cut, and the process (a forked child counts anew).
 * With a million stacks the chance that any two share a hash is one in 30
 * million. A torn entry fits no hash.
 */
#include "probe/stack.h"

#include "probe/lane.h"
#include "probe/memory.h"
#include "probe/share.h"
#include "probe/tracing.h"

struct stack_entry {
    uint64_t key;
    uint64_t id;
};

enum { STACK_BITS = 16 }; /* buckets of two: 2 MiB, 131,072 stacks */

static struct stack_entry *stack_table;
static uint32_t stack_next = 1;
static uint32_t stack_depth; /* 0: whole */

bool stack_init(uint32_t depth)
{
    stack_depth = depth;
    stack_table = memory_pages(sizeof *stack_table << (STACK_BITS + 1));
    return stack_table != NULL;
}

void stack_renew(void)
{
    stack_next = 1;
}

static inline uint64_t stack_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9fb21c651e98df25);
    return hash ^ hash >> 32;
}

/* What a frame adds to the hash of its stack.  A plain sum of these, so that no
 * multiplication has to wait for the one before. */
static inline uint64_t stack_share(uint64_t pc, uint32_t depth)
{
    uint64_t value = (pc + depth * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0x9fb21c651e98df25);
    return (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

/* What the hash of a stack without frames would be. The process is the lane's: what our own code, interrupted by a fork,
 * still tells through one of the parent's is not known to those who come later. Each is mixed in for itself: a fork raises both
 * by one. */
static uint64_t stack_begin(const struct lane *lane)
{
    return stack_mix(stack_mix(UINT64_C(0x9e3779b97f4a7c15), lane->epoch), lane->walk.generation);
}

/* Brings the running hashes up to date and gives the last one. */
static uint64_t stack_hash(struct lane *lane)
{
    struct walk *walk = &lane->walk;
    uint32_t i = walk->changed;
    uint64_t hash = i == 0 ? stack_begin(lane) : walk->frames[i - 1].hash;
    for (; i < walk->n; i++) {
        hash += stack_share(walk->frames[i].pc, i);
        walk->frames[i].hash = hash;
    }
    walk->changed = walk->n;
    return walk->cut == CUT_NOT ? hash : stack_mix(hash, walk->cut);
}

/* With a cap: the outer and the inner half, and how many are left out between. */
static uint64_t stack_hash_capped(struct lane *lane, uint32_t *omitted)
{
    const struct walk *walk = &lane->walk;
    (void)stack_hash(lane);
    uint32_t inner = (stack_depth + 1) / 2, outer = stack_depth / 2;
    *omitted = walk->n - stack_depth;
    uint64_t hash = stack_mix(outer == 0 ? stack_begin(lane) : walk->frames[outer - 1].hash, UINT64_MAX);
    for (uint32_t i = walk->n - inner; i < walk->n; i++)
        hash = stack_mix(hash, walk->frames[i].pc);
    return walk->cut == CUT_NOT ? hash : stack_mix(hash, walk->cut);
}

/* Writes count frames, from index `from` outwards. */
static bool stack_put_frames(struct lane *lane, uint32_t from, uint32_t count)
{
    while (count > 0) {
        uint32_t piece = count < RECORD_FRAMES_MAX ? count : RECORD_FRAMES_MAX;
        if (!lane_reserve(lane, piece + 1))
            return false;
        for (uint32_t i = 0; i < piece; i++)
            lane->at[1 + i] = lane->walk.frames[from - i].pc;
        lane_publish(lane, RECORD_FRAMES | (uint64_t)piece << 32, piece + 1);
        from -= piece;
        count -= piece;
    }
    return true;
}

static bool stack_define(struct lane *lane, uint32_t id, uint32_t omitted)
{
    const struct walk *walk = &lane->walk;
    uint32_t kept = walk->n - omitted;
    if (!lane_reserve(lane, 3))
        return false;
    lane->at[1] = kept | (uint64_t)omitted << 32;
    lane->at[2] = walk->generation;
    lane_publish(lane, RECORD_STACK | (uint64_t)walk->cut << 8 | (uint64_t)id << 32, 3);
    if (omitted == 0)
        return stack_put_frames(lane, walk->n - 1, kept);
    uint32_t inner = (kept + 1) / 2;
    return stack_put_frames(lane, walk->n - 1, inner) && stack_put_frames(lane, kept / 2 - 1, kept / 2);
}

static __attribute__((noinline)) uint32_t stack_add(struct lane *lane, uint64_t hash, uint32_t omitted)
{
    uint32_t id = __atomic_fetch_add(&stack_next, 1, __ATOMIC_RELAXED);
    if (!stack_define(lane, id, omitted))
        return 0;
    share_count_definition();
    TRACE(TRACE_UNWIND, lane->walk.cut == CUT_NOT ? 2 : 1, "stack %u has %u frames, cut %u", id, lane->walk.n,
          lane->walk.cut);
    for (uint32_t i = lane->walk.n; i-- > 0;)
        TRACE(TRACE_UNWIND, 3, "  %x ends at %x", lane->walk.frames[i].pc, lane->walk.frames[i].cfa, 0);
    struct stack_entry *e = &stack_table[hash >> (64 - STACK_BITS) << 1];
    if (__atomic_load_n(&e[0].id, __ATOMIC_RELAXED) != 0) {
        __atomic_store_n(&e[1].key, __atomic_load_n(&e[0].key, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
        __atomic_store_n(&e[1].id, __atomic_load_n(&e[0].id, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    }
    __atomic_store_n(&e[0].key, hash ^ id, __ATOMIC_RELEASE);
    __atomic_store_n(&e[0].id, id, __ATOMIC_RELEASE);
    return id;
}

static inline uint32_t stack_find(struct lane *lane)
{
    const struct walk *walk = &lane->walk;
    uint32_t omitted = 0;
    if (walk->n == 0)
        return 0;
    uint64_t hash =
        stack_depth == 0 || walk->n <= stack_depth ? stack_hash(lane) : stack_hash_capped(lane, &omitted);
    const struct stack_entry *e = &stack_table[hash >> (64 - STACK_BITS) << 1];
    for (unsigned i = 0; i < 2; i++) {
        uint64_t id = __atomic_load_n(&e[i].id, __ATOMIC_ACQUIRE);
        if ((__atomic_load_n(&e[i].key, __ATOMIC_ACQUIRE) ^ id) == hash && id != 0)
            return (uint32_t)id;
    }
    return stack_add(lane, hash, omitted);
}

uint32_t stack_number(struct lane *lane)
{
    lane->stack = stack_find(lane);
    if (__builtin_expect(lane->walk.is_complete, 0)) {
        lane->walk.is_complete = false;
        walk_forget(&lane->walk);
    }
    return lane->stack;
}

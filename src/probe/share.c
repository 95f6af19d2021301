/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * share: chunks in and out of the segment. How it is made is in handover.c.
 *
 * A chunk comes from the free list (last given back, first taken: still warm),
 * else from those never used, else from a further window if the threads alone
 * hold most of them, else the thread waits for the collector. Waiting ends when
 * the collector dies (the kernel marks the robust word; before it has come, nobody
 * listens any more), closes, or has not come for ten seconds; and when there is nothing to
 * wait for, because each chunk is the one that some lane writes to and there can be no more of them.
 */
#include "probe/share.h"

#include "probe/create.h"
#include "probe/environment.h"
#include "probe/handover.h"
#include "probe/lane.h"
#include "probe/life.h"
#include "probe/sys.h"
#include "probe/tracing.h"

#include <sys/mman.h>

enum {
    SHARE_SPINS = 8,
    SHARE_SPIN_NS = 500,
    SHARE_NAP_NS = 100000,
    SHARE_LOOK_NS = 10000000,
    SHARE_STUCK_NS = 1000000000
};

struct share share;
const uint32_t share_no_control = SEGMENT_FADING;
intptr_t share_control;

static bool share_pop(struct segment_head *head, uint32_t *index)
{
    uint64_t old = __atomic_load_n(&head->free_list, __ATOMIC_ACQUIRE);
    while ((uint32_t)old != 0 && (uint32_t)old <= head->chunk_max) {
        uint32_t chunk = (uint32_t)old - 1;
        uint64_t next = __atomic_load_n(&share.next[chunk], __ATOMIC_RELAXED);
        uint64_t new = ((old >> 32) + 1) << 32 | next;
        if (__atomic_compare_exchange_n(&head->free_list, &old, new, true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            *index = chunk;
            return true;
        }
    }
    uint32_t fresh = __atomic_load_n(&head->fresh, __ATOMIC_RELAXED);
    while (fresh < __atomic_load_n(&head->chunk_limit, __ATOMIC_ACQUIRE)) {
        if (__atomic_compare_exchange_n(&head->fresh, &fresh, fresh + 1, true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            *index = fresh;
            return true;
        }
    }
    return false;
}

/* Maps the next window: a second look at the last page mapped, stretched.  Handlers wait meanwhile: one that
 * needs a chunk, or never comes back, would have the lock stay as it is. */
static bool share_map_window(uint32_t limit)
{
    struct segment_head *head = share.head;
    uint32_t idle = 0, w = limit / SHARE_WINDOW_CHUNKS;
    uint64_t mask = sys_block_signals();
    if (!__atomic_compare_exchange_n(&share.growing, &idle, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        sys_unblock_signals(mask);
        return true; /* another thread is at it: look again */
    }
    bool done = false;
    if (limit == __atomic_load_n(&head->chunk_limit, __ATOMIC_ACQUIRE)) {
        uint8_t *last = share.window[w - 1] + (size_t)(SHARE_WINDOW_CHUNKS - 1) * SEGMENT_CHUNK_SIZE;
        size_t length = (size_t)(SHARE_WINDOW_CHUNKS + 1) * SEGMENT_CHUNK_SIZE;
        bool has_room = head->collector != SEGMENT_SPOOL || spool_grow(limit + SHARE_WINDOW_CHUNKS);
        long at = has_room ? sys_mremap(last, 0, length, MREMAP_MAYMOVE) : -1;
        if (!sys_failed(at)) {
            share.window[w] = (uint8_t *)at + SEGMENT_CHUNK_SIZE;
            __atomic_store_n(&head->chunk_limit, limit + SHARE_WINDOW_CHUNKS, __ATOMIC_RELEASE);
            done = true;
        }
    } else {
        done = true;
    }
    __atomic_store_n(&share.growing, 0, __ATOMIC_RELEASE);
    sys_unblock_signals(mask);
    return done;
}

/* Lets there be more chunks, up to the pool, or if the threads alone hold most of them. */
static bool share_grow(void)
{
    struct segment_head *head = share.head;
    uint32_t limit = __atomic_load_n(&head->chunk_limit, __ATOMIC_ACQUIRE);
    uint32_t first = head->chunk_max < SHARE_WINDOW_CHUNKS ? head->chunk_max : SHARE_WINDOW_CHUNKS;
    uint32_t told = __atomic_load_n(&head->pool, __ATOMIC_RELAXED),
             pool = told != 0 ? told : SHARE_POOL_FIRST;
    bool is_crowded =
        head->collector == SEGMENT_SPOOL || __atomic_load_n(&head->lane_count, __ATOMIC_RELAXED) > limit / 2;
    if (!is_crowded && limit >= pool)
        return false;
    if (limit < first) { /* they are mapped */
        uint32_t next = is_crowded || pool > first ? first : pool;
        __atomic_compare_exchange_n(&head->chunk_limit, &limit, next, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED);
        return true;
    }
    if (life_is_caged() || limit + SHARE_WINDOW_CHUNKS > head->chunk_max ||
        limit / SHARE_WINDOW_CHUNKS >= SHARE_WINDOWS_MAX)
        return false;
    return share_map_window(limit);
}

/* Has nobody got a chunk for long, while there are as many lanes as chunks?  Those that do not sleep count together:
 * there may be many on few CPUs. */
static bool share_is_stuck(uint64_t waited_ns, bool is_napping)
{
    const struct segment_head *head = share.head;
    if (__atomic_load_n(&head->lane_count, __ATOMIC_RELAXED) <
        __atomic_load_n(&head->chunk_limit, __ATOMIC_RELAXED))
        return false;
    if (is_napping)
        return waited_ns > SHARE_STUCK_NS;
    return __atomic_add_fetch(&share.spun_ns, SHARE_SPIN_NS, __ATOMIC_RELAXED) > SHARE_STUCK_NS;
}

/* Sleeping is a system call: not once a filter may be there. */
static bool share_may_nap(void)
{
    const struct segment_head *head = share.head;
    return !life_is_caged() && (__atomic_load_n(&head->may_wait, __ATOMIC_RELAXED) != 0 ||
                                __atomic_load_n(&head->collector, __ATOMIC_RELAXED) == SEGMENT_NOBODY);
}

/* look_ns: when to look next whether anybody listens. */
static bool share_collector_is_gone(uint64_t waited_ns, uint64_t *look_ns)
{
    const struct segment_head *head = share.head;
    switch (__atomic_load_n(&head->collector, __ATOMIC_ACQUIRE)) {
    case SEGMENT_ATTACHED:
        return (__atomic_load_n(&head->owner, __ATOMIC_ACQUIRE) & SEGMENT_OWNER_DIED) != 0;
    case SEGMENT_NOBODY:
        if (waited_ns < *look_ns || !share_may_nap())
            return waited_ns > UINT64_C(10000000000);
        *look_ns = waited_ns + SHARE_LOOK_NS;
        return handover_is_refused(&handover);
    default:
        return true;
    }
}

bool share_find_chunk(uint32_t *index)
{
    return share_pop(share.head, index);
}

bool share_take_chunk(uint32_t *index)
{
    struct segment_head *head = share.head;
    if (__builtin_expect(share_pop(head, index), 1)) {
        TRACE(TRACE_SHARE, 2, "chunk %u", *index, 0, 0);
        return true;
    }
    __atomic_fetch_add(&head->waits, 1, __ATOMIC_RELAXED);
    uint64_t waited_ns = 0, look_ns = SHARE_LOOK_NS;
    for (unsigned spins = 0; !__atomic_load_n(&head->stopped, __ATOMIC_ACQUIRE); spins++) {
        if (share_pop(head, index)) {
            __atomic_store_n(&share.spun_ns, 0, __ATOMIC_RELAXED);
            return true;
        }
        if (share_grow())
            continue;
        if (share_collector_is_gone(waited_ns, &look_ns)) {
            share_stop(LOST_COLLECTOR);
            break;
        }
        bool is_napping = spins >= SHARE_SPINS && share_may_nap();
        if (share_is_stuck(waited_ns, is_napping)) {
            share_stop(life_is_caged() ? LOST_SANDBOX : LOST_MEMORY);
            break;
        }
        if (!is_napping) {
            for (unsigned i = 0; i < 32; i++)
                arch_pause();
            waited_ns += SHARE_SPIN_NS;
        } else {
            const int64_t nap[2] = {0, SHARE_NAP_NS};
            sys_nanosleep(nap);
            waited_ns += SHARE_NAP_NS;
        }
    }
    return false;
}

void share_leave_counter(void)
{
    if (share.head == NULL || share.stamp_kind != SEGMENT_STAMP_TSC)
        return;
    if (*lane_fork_word != 0) /* else a child that has not told of itself, and the head is its parent's */
        __atomic_store_n(&share.head->sequence, arch_counter(), __ATOMIC_RELEASE);
    __atomic_store_n(&share.stamp_kind, SHARE_STAMP_CLOCK, __ATOMIC_RELEASE);
}

uint64_t share_clock_stamp(void)
{
    struct segment_head *head = share.head;
    uint64_t next = __atomic_load_n(&head->sequence, __ATOMIC_RELAXED);
    uint64_t clock = __atomic_load_n(&head->clock, __ATOMIC_RELAXED);
    uint64_t stamp;
    do
        stamp = next > clock ? next : clock;
    while (!__atomic_compare_exchange_n(&head->sequence, &next, stamp + 1, true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED));
    return stamp;
}

bool share_is_own(void)
{
    return share.head != NULL && !life_is_caged() && (uint32_t)sys_getpid() == life.pid;
}

bool share_is_lent(void)
{
    return share.head != NULL && !life_is_caged() && *lane_fork_word != 0 &&
           (uint32_t)sys_getpid() != life.pid;
}

void share_exec_begin(void)
{
    if (!share_is_own())
        return;
    __atomic_store_n(&share.head->exec_is_cut_off, handover_is_cut_off(&handover), __ATOMIC_RELAXED);
    __atomic_store_n(&share.head->exec_ns, sys_monotonic_ns(), __ATOMIC_RELEASE);
}

void share_exec_failed(void)
{
    if (share_is_own())
        __atomic_store_n(&share.head->exec_ns, 0, __ATOMIC_RELEASE);
}

struct segment_head *share_keep_head(void)
{
    long at = sys_mremap(share.head, 0, SEGMENT_HEAD_SIZE, MREMAP_MAYMOVE); /* shared memory: once more */
    return sys_failed(at) ? NULL : (void *)at;
}

void share_drop_head(struct segment_head *parent, bool is_unreached)
{
    if (parent == NULL)
        return;
    if (is_unreached)
        __atomic_fetch_add(&parent->unreached, 1, __ATOMIC_RELEASE);
    sys_munmap(parent, SEGMENT_HEAD_SIZE);
}

void share_begin(void)
{
    intptr_t there = (intptr_t)&share_no_control;
    if (share.head != NULL)
        there = (intptr_t)&share.head->control;
    __atomic_store_n(&share_control, there - (intptr_t)&share_no_control, __ATOMIC_RELEASE);
}

void share_leave(void)
{
    __atomic_store_n(&share_control, 0, __ATOMIC_RELEASE);
}

/* Is the head that of this process? In a child that is not recorded, or has not told of itself, it is its parent's. */
static bool share_is_here(void)
{
    return share.head != NULL && *lane_fork_word != 0;
}

void share_note_gaps(void)
{
    if (!share_is_here())
        return;
    spool_unseal();
    __atomic_store_n(&share.head->has_gaps, 1, __ATOMIC_RELEASE);
}

void share_note_unhooked(enum segment_unhooked what)
{
    __atomic_fetch_or(&share.unhooked, what, __ATOMIC_RELAXED);
    share_note_gaps();
    if (share_is_here())
        __atomic_fetch_or(&share.head->unhooked, what, __ATOMIC_RELEASE);
}

bool share_switch(bool on)
{
    if (!share_is_here())
        return false;
    if (!on)
        share_note_gaps();
    uint32_t *word = &share.head->control, old = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    do {
        if (((old & SEGMENT_STATE_MASK) == SEGMENT_ON) == on)
            return false;
    } while (!__atomic_compare_exchange_n(word, &old, segment_change(old, on ? SEGMENT_ON : SEGMENT_FADING),
                                          true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return true;
}

uint64_t share_ask(void)
{
    return !share_is_here() ? 0 : __atomic_add_fetch(&share.head->asked, 1, __ATOMIC_ACQ_REL);
}

bool share_await(uint64_t request, uint64_t until_ns)
{
    const struct segment_head *head = share.head;
    uint64_t waited_ns = 0, look_ns = SHARE_LOOK_NS;
    while (head != NULL && request != 0 && share_may_nap() &&
           !__atomic_load_n(&head->stopped, __ATOMIC_ACQUIRE) &&
           (until_ns == UINT64_MAX || sys_monotonic_ns() < until_ns)) {
        if (__atomic_load_n(&head->answered[request % SEGMENT_ANSWERS], __ATOMIC_ACQUIRE) >= request)
            return true;
        if (share_collector_is_gone(waited_ns, &look_ns))
            break;
        const int64_t nap[2] = {0, SHARE_NAP_NS};
        sys_nanosleep(nap);
        waited_ns += SHARE_NAP_NS;
    }
    return false;
}

void share_count_unreached(int more)
{
    if (share_is_here())
        __atomic_fetch_add(&share.head->unreached, (uint32_t)more, __ATOMIC_RELEASE);
}

void share_count_unfollowed(int more)
{
    if (!share_is_here() || environment_is("HEAPWAKE_CHILDREN", "no"))
        return;
    spool_unseal();
    __atomic_fetch_add(&share.head->unfollowed, (uint32_t)more, __ATOMIC_RELEASE);
}

void share_stop(enum record_lost reason)
{
    spool_unseal();
    share.head->stop_reason = reason;
    __atomic_store_n(&share.head->stopped, 1, __ATOMIC_RELEASE);
    TRACE(TRACE_SHARE, 1, "recording stops, reason %u", reason, 0, 0);
    lane_stop();
}

void share_count_lost(void)
{
    if (share.head == NULL)
        return;
    spool_unseal();
    __atomic_fetch_add(&share.head->lost_events, 1, __ATOMIC_RELAXED);
}

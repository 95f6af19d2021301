/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * lane: see lane.h. What happens rarely: a thread's first event, the taking
 * over of a dead thread's lane, a nested or stale gate, the end of a chunk.
 *
 * lane_table[i] is lane i of the segment. A new thread first looks at two
 * lanes, round robin: one whose thread the kernel no longer knows is taken
 * over, so that the number of lanes follows the number of live threads, be
 * they a million in turn.
 */
#include "probe/lane.h"

#include "probe/create.h"
#include "probe/early.h"
#include "probe/event.h"
#include "probe/life.h"
#include "probe/memory.h"
#include "probe/real.h"
#include "wire/seal.h"

#include <signal.h>
#include <sys/mman.h>

enum { LANE_LOOKS = 2, LANE_NESTED_MAX = 8 };

__thread struct lane *tls_lane __attribute__((tls_model("initial-exec")));
static uint64_t lane_fork_none = 2;
uint64_t *lane_fork_word = &lane_fork_none;
static bool lane_fork_is_hidden;

static struct lane **lane_table;
static uint32_t lane_look;

bool lane_init(void)
{
    lane_table = memory_pages(SHARE_LANES_MAX * sizeof *lane_table);
    uint64_t *word = memory_pages(4096);
    if (lane_table == NULL || word == NULL)
        return false;
    lane_fork_is_hidden = sys_failed(sys_madvise(word, 4096, MADV_WIPEONFORK));
    *word = 1;
    lane_fork_word = word;
    return true;
}

void lane_forked(void)
{
    if (lane_fork_is_hidden && *lane_fork_word != 2)
        *lane_fork_word = 0;
}

void lane_stop(void)
{
    *lane_fork_word = 2;
}

void lane_renew(uint32_t count)
{
    memory_zero(lane_table, (count < SHARE_LANES_MAX ? count : SHARE_LANES_MAX) * sizeof *lane_table);
    lane_look = 0;
    *lane_fork_word = 1;
}

bool lane_is_busy(void)
{
    return tls_lane != NULL && tls_lane->gate != 0;
}

uint64_t lane_now_otherwise(void)
{
    if (share.stamp_kind == SHARE_STAMP_CLOCK)
        return share_clock_stamp();
    return __atomic_fetch_add(&share.head->sequence, 1, __ATOMIC_RELAXED);
}

/* Goes on behind the first word of a chunk. */
static void lane_set_chunk(struct lane *lane, uint64_t *words, uint32_t chunk)
{
    __atomic_store_n(words, RECORD_CHUNK | (uint64_t)lane->index << 32, __ATOMIC_RELEASE);
    lane->limit = words + SEGMENT_CHUNK_WORDS - LANE_RECORD_WORDS - 1;
    lane->first = words;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    lane->at = words + 1;
    lane->chunk = chunk;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    lane->next = 0;
}

/* Where the sum of the lane's chunk belongs; NULL: this is no spool. */
static uint32_t *lane_find_seal(const struct lane *lane)
{
    return share.head->collector == SEGMENT_SPOOL ? &share.next[lane->chunk] : NULL;
}

/* The LINK is published: nothing in the chunk that it is in changes any more. */
static void lane_seal_left(const struct lane *lane, uint32_t *seal)
{
    if (seal != NULL)
        __atomic_store_n(seal, seal_chunk(lane->left, (size_t)(lane->at - lane->left) + 1), __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

bool lane_reserve(struct lane *lane, unsigned words)
{
    if (__builtin_expect(lane->at <= lane->limit + LANE_RECORD_WORDS - words, 1))
        return true;
    uint32_t chunk = 0;
    uint32_t *seal = lane_find_seal(lane); /* after a fork in between it is memory that nobody reads */
    bool is_taken = lane_is_own(lane) && share_take_chunk(&chunk);
    uint64_t *there = share_chunk(chunk);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!lane_is_own(lane))
        return false; /* and the chunk may be that of another segment, so this is looked at last */
    if (!is_taken) {
        share_count_lost();
        return false;
    }
    *there = RECORD_CHUNK | (uint64_t)lane->index << 32;
    lane->left = lane->first;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    lane->next = chunk + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(lane->at, RECORD_LINK | (uint64_t)chunk << 32, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    lane_seal_left(lane, seal);
    lane_set_chunk(lane, there, chunk);
    return true;
}

#define LANE_NO_MASK UINT64_MAX

/* Between the two no handler comes: it would take a lane for the thread too, perhaps the same, or fork. Handlers wait
 * for that, but not for a chunk. */
static uint64_t lane_claim_begin(void)
{
    return life_is_caged() ? LANE_NO_MASK : sys_block_signals();
}

static void lane_claim_end(uint64_t mask)
{
    if (mask != LANE_NO_MASK)
        sys_unblock_signals(mask);
}

/* Has a handler forked since? */
static bool lane_is_forked(uint32_t epoch)
{
    return life.epoch != epoch || *lane_fork_word == 0;
}

/* A chunk for a new lane. False: none is left. */
static bool lane_claim_chunk(uint32_t *chunk, uint64_t *mask)
{
    if (share_find_chunk(chunk))
        return true;
    lane_claim_end(*mask);
    bool is_taken = share_take_chunk(chunk);
    *mask = lane_claim_begin();
    return is_taken;
}

static struct lane *lane_new(uint32_t tid, uint32_t chunk)
{
    struct segment_head *head = share.head;
    struct lane *lane = memory_pages(LANE_SIZE); /* neighbours merge into one mapping */
    if (lane == NULL) {
        share_stop(LOST_MEMORY);
        return NULL;
    }
    uint32_t index = __atomic_fetch_add(&head->lane_count, 1, __ATOMIC_ACQ_REL);
    if (index >= head->lane_max) {
        share_stop(LOST_MEMORY);
        return NULL;
    }
    lane->index = index;
    lane->tid = tid;
    lane->epoch = life.epoch;
    lane->walk.room = LANE_DEPTH_FIRST;
    lane->walk.frames = (struct frame *)(void *)(lane + 1);
    lane->walk.scratch = lane->walk.frames + LANE_DEPTH_FIRST;
    _Static_assert(sizeof(struct lane) + 2 * LANE_DEPTH_FIRST * sizeof(struct frame) <= LANE_SIZE,
                   "a lane fits");
    lane_set_chunk(lane, share_chunk(chunk), chunk);
    __atomic_store_n(&share.lanes[index], chunk + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&lane_table[index], lane, __ATOMIC_RELEASE);
    if (index > 0)
        life.many = 1;
    return lane;
}

/* A lane whose thread has ended, or NULL. */
static struct lane *lane_inherit(uint32_t tid)
{
    uint32_t count = __atomic_load_n(&share.head->lane_count, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < LANE_LOOKS && count > 0; i++) {
        uint32_t index = __atomic_fetch_add(&lane_look, 1, __ATOMIC_RELAXED) % count;
        struct lane *lane =
            index < SHARE_LANES_MAX ? __atomic_load_n(&lane_table[index], __ATOMIC_ACQUIRE) : NULL;
        if (lane == NULL || lane->is_nested)
            continue;
        uint64_t old = __atomic_load_n(&lane->claim, __ATOMIC_ACQUIRE), new = ((old >> 32) + 1) << 32 | tid;
        uint32_t owner = (uint32_t)old;
        bool is_dead = owner == tid || sys_tgkill((int)life.pid, (int)owner, 0) == -3 /* ESRCH */;
        if (is_dead &&
            __atomic_compare_exchange_n(&lane->claim, &old, new, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return lane;
    }
    return NULL;
}

/* A lane may change hands while another thread looks: pointer and tid count only together. */
void lane_show(struct lane *lane)
{
    __atomic_store_n(&lane->pointer_tid, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&lane->pointer, arch_thread_pointer(), __ATOMIC_SEQ_CST);
    __atomic_store_n(&lane->pointer_tid, lane->tid, __ATOMIC_SEQ_CST);
}

uint32_t lane_next_tid(uintptr_t pointer, uint32_t *at)
{
    if (life.state != LIFE_ON || *lane_fork_word != 1)
        return 0; /* the lanes are a parent's, or there are none */
    uint32_t count = __atomic_load_n(&share.head->lane_count, __ATOMIC_ACQUIRE);
    while (*at < count && *at < SHARE_LANES_MAX) {
        struct lane *lane = __atomic_load_n(&lane_table[(*at)++], __ATOMIC_ACQUIRE);
        if (lane == NULL)
            continue;
        uint32_t tid = __atomic_load_n(&lane->pointer_tid, __ATOMIC_SEQ_CST);
        if (tid != 0 && __atomic_load_n(&lane->pointer, __ATOMIC_SEQ_CST) == pointer &&
            __atomic_load_n(&lane->pointer_tid, __ATOMIC_SEQ_CST) == tid)
            return tid;
    }
    return 0;
}

/* The gate was left between taking a chunk and going on in it. Once the LINK is
 * published the collector may give the chunk that it is in back, zeroed, first word
 * first (drain_give_back). So a zero where the LINK belongs means that it was not
 * published only if the first word, looked at afterwards, still names the lane. */
static void lane_finish_link(struct lane *lane)
{
    uint32_t chunk = lane->next - 1;
    uint64_t *words = share_chunk(chunk);
    if (lane->at < words || lane->at >= words + SEGMENT_CHUNK_WORDS) {
        uint64_t link = __atomic_load_n(lane->at, __ATOMIC_ACQUIRE);
        uint64_t owner = __atomic_load_n(lane->left, __ATOMIC_ACQUIRE);
        if (link == 0 && owner == (RECORD_CHUNK | (uint64_t)lane->index << 32))
            __atomic_store_n(lane->at, RECORD_LINK | (uint64_t)chunk << 32, __ATOMIC_RELEASE);
        lane_seal_left(lane, lane_find_seal(lane));
        lane_set_chunk(lane, words, chunk);
    }
    lane->chunk = chunk;
    lane->next = 0;
}

/* The gate was left for good in the middle of our code: find the end of what
 * has been published and clear the rest of the chunk. */
static void lane_recover(struct lane *lane)
{
    if (lane->next != 0) {
        lane_finish_link(lane);
    } else {
        uint64_t first = __atomic_load_n(lane->at, __ATOMIC_ACQUIRE);
        lane->at += record_words(first);
        uint64_t *end = lane->limit + LANE_RECORD_WORDS + 1;
        for (uint64_t *at = lane->at; at < end; at++)
            __atomic_store_n(at, 0, __ATOMIC_RELAXED);
    }
    walk_forget(&lane->walk);
    lane->stack = 0;
    lane->clock = 0;
    lane->gate = 0;
}

/* Records that are published in a chunk: their words. */
static size_t lane_measure(const uint64_t *words)
{
    size_t length = 0;
    for (uint32_t more = 1; more != 0 && length < SEGMENT_CHUNK_WORDS; length += more) {
        uint64_t first = __atomic_load_n(&words[length], __ATOMIC_ACQUIRE);
        more = first == 0 ? 0 : record_words(first);
    }
    return length;
}

void lane_seal(void)
{
    uint64_t on = 1;
    (void)__atomic_compare_exchange_n(lane_fork_word, &on, 3, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    uint32_t count = __atomic_load_n(&share.head->lane_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && i < SHARE_LANES_MAX; i++) {
        const struct lane *lane = __atomic_load_n(&lane_table[i], __ATOMIC_ACQUIRE);
        if (lane == NULL)
            continue;
        uint32_t chunk = __atomic_load_n(&lane->chunk, __ATOMIC_ACQUIRE);
        const uint64_t *words = share_chunk(chunk);
        __atomic_store_n(&share.next[chunk], seal_chunk(words, lane_measure(words)), __ATOMIC_RELEASE);
    }
}

void lane_unseal(void)
{
    uint64_t sealed = 3;
    (void)__atomic_compare_exchange_n(lane_fork_word, &sealed, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Makes the lane of a thread that has ended fit for another. */
static void lane_take_over(struct lane *lane)
{
    if (lane->gate != 0) /* its thread ended in our code */
        lane_recover(lane);
    walk_forget(&lane->walk);
    lane->stack = 0;
    lane->clock = 0;
    lane->walk.range = lane->walk.doubted = (struct range){0};
    memory_zero(lane->walk.ranges, sizeof lane->walk.ranges);
}

/* The thread's first event. *has_come: a handler has begun, or forked, while we waited. NULL: do not record. */
static struct lane *lane_claim(const void *frame, bool *has_come)
{
    uint32_t tid = life_is_caged() ? 0 : (uint32_t)sys_gettid(), epoch = life.epoch, chunk;
    uint64_t mask = lane_claim_begin();
    struct lane *lane = NULL;
    *has_come = tls_lane != NULL || lane_is_forked(epoch);
    if (!*has_come && !life_is_caged())
        lane = lane_inherit(tid);
    if (lane != NULL) {
        lane_take_over(lane);
    } else if (!*has_come) {
        bool is_taken = lane_claim_chunk(&chunk, &mask);
        *has_come = tls_lane != NULL || lane_is_forked(epoch);
        if (!*has_come && is_taken)
            lane = lane_new(tid, chunk);
        else if (!*has_come)
            share_count_lost();
    }
    if (lane != NULL) {
        lane->gate = (uint64_t)(uintptr_t)frame;
        lane->thread = __atomic_add_fetch(&share.head->thread_count, 1, __ATOMIC_RELAXED);
        tls_lane = lane;
    }
    lane_claim_end(mask);
    return lane;
}

static struct lane *lane_begin(const void *frame)
{
    bool has_come;
    if (!life_is_caged() && (uint32_t)sys_getpid() != life.pid)
        return NULL; /* the child of a vfork, living in our memory: it will not stay */
    struct lane *lane = lane_claim(frame, &has_come);
    if (has_come)
        return lane_enter_slow(frame);
    if (lane == NULL)
        return NULL;
    event_put_thread(lane);
    early_replay(lane);
    return lane;
}

/* Has the frame that took the gate been left by a jump? The stack tells: if that
 * hook is still running it is among our callers. */
static bool lane_is_stale(const struct lane *lane, const void *frame)
{
    if ((uint64_t)(uintptr_t)frame == lane->gate)
        return true; /* two calls cannot be in the same place */
    switch (complete_find(arch_caller_sp((const uint64_t *)(uintptr_t)lane->gate))) {
    case COMPLETE_FOUND:
        return false;
    case COMPLETE_ABSENT:
        return true;
    default:
        break;
    }
    /* The stack cannot be followed. Then what lies above is stale, unless we are on
     * an alternate stack. */
    stack_t alternate;
    if ((uint64_t)(uintptr_t)frame < lane->gate || life_is_caged() ||
        sys_failed(sys_sigaltstack(NULL, &alternate)))
        return false;
    return (alternate.ss_flags & SS_ONSTACK) == 0;
}

/* A further lane for the thread of `outer`, whose own is in use. */
static struct lane *lane_new_nested(struct lane *outer, const void *frame)
{
    uint32_t chunk;
    struct lane *lane = NULL;
    uint64_t mask = lane_claim_begin();
    bool is_taken = lane_claim_chunk(&chunk, &mask);
    bool has_come = outer->nested != NULL || lane_is_forked(outer->epoch);
    if (!has_come && is_taken)
        lane = lane_new(outer->tid, chunk);
    else if (!has_come)
        share_count_lost();
    if (lane != NULL) {
        lane->is_nested = true;
        lane->thread = outer->thread;
        lane->gate = (uint64_t)(uintptr_t)frame;
        outer->nested = lane;
    }
    lane_claim_end(mask);
    if (has_come)
        return lane_enter_slow(frame);
    if (lane != NULL)
        event_put_thread(lane);
    return lane;
}

/* Our own code has been interrupted by a handler that allocates. */
static struct lane *lane_nest(struct lane *outer, const void *frame)
{
    struct lane *lane = outer;
    for (unsigned level = 0; level < LANE_NESTED_MAX; level++) {
        if (lane->nested == NULL)
            return lane_new_nested(lane, frame);
        lane = lane->nested;
        if (lane->gate != 0 && !lane_is_stale(lane, frame))
            continue;
        if (lane->gate != 0)
            lane_recover(lane);
        lane->gate = (uint64_t)(uintptr_t)frame;
        if (lane->thread != outer->thread) {
            lane->thread = outer->thread;
            event_put_thread(lane);
        }
        return lane;
    }
    __atomic_fetch_add(&share.head->lost_nested, 1, __ATOMIC_RELAXED);
    share_count_lost();
    return NULL;
}

__attribute__((noinline)) struct lane *lane_enter_slow(const void *frame)
{
    if (life.state == LIFE_ON && *lane_fork_word == 0 && !life_renew())
        return NULL;
    if (life.state != LIFE_ON)
        return NULL;
    spool_unseal();
    if (__atomic_load_n(&share.head->stopped, __ATOMIC_ACQUIRE)) {
        share_count_lost();
        return NULL;
    }
    struct lane *lane = tls_lane;
    if (lane == NULL)
        return lane_begin(frame);
    bool is_stale = lane->gate != 0 && lane_is_stale(lane, frame);
    if (lane->gate != 0 && !is_stale)
        return lane_nest(lane, frame);
    if (is_stale)
        lane_recover(lane);
    lane->gate = (uint64_t)(uintptr_t)frame;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return tls_lane == lane ? lane : lane_enter_slow(frame);
}

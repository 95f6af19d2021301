/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * event: writes the records that wire/record.h draws. The hot path.
 *
 * Time: while the process has one thread, events carry no stamp of their own;
 * a STAMP record tells the time now and then: when the collector's clock has moved, which it does every
 * millisecond while there are many events, and in between so often that a slow program gets the time of each event,
 * and a busy one hardly ever looks. At first every event looks at the counter. The pace grows with each look by a part in
 * EVENT_PACE, up to EVENT_QUIET events a look, and begins anew when the latest look was EVENT_GAP ago: so of many
 * events in a short time the first have their own times, and of the rest each is out by less than a part in
 * EVENT_PACE of those. While nobody advances the clock every event looks: a pause must not fall between two looks.
 * With more threads every event carries a stamp, read after the real
 * allocation or before the real release, so that the events of all threads can
 * be put in order.
 */
#include "probe/event.h"

#include "probe/early.h"
#include "probe/lane.h"
#include "probe/life.h"
#include "probe/memory.h"
#include "probe/real.h"
#include "probe/sampling.h"
#include "probe/share.h"
#include "probe/stack.h"
#include "probe/tracing.h"

#include <errno.h>
#include <sys/prctl.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

static inline bool event_is_stamped(void)
{
    return *real.single_threaded == 0 || life.many != 0;
}

enum {
    EVENT_QUIET = 256,    /* unstamped events between two looks at the counter, at most */
    EVENT_PACE = 64,      /* one event a look, in the units of lane.pace */
    EVENT_SOON = 1 << 11, /* steps of the counter, less than a microsecond: too little to be told */
    EVENT_GAP = 1 << 18,  /* about a tenth of a millisecond */
    EVENT_LATE = 1 << 23, /* some milliseconds: the clock has stopped */
};

/* After a look at the counter that said `now`: sets when to look again. False: nothing is to be told, since every event
 * looks and the one before had hardly another time. */
static inline bool event_set_pace(struct lane *lane, uint64_t now, uint64_t clock)
{
    bool is_late = (int64_t)(now - clock) > EVENT_LATE;
    uint64_t since = now - lane->looked;
    if (is_late || since > EVENT_GAP)
        lane->pace = EVENT_PACE;
    else if (lane->pace < EVENT_QUIET * EVENT_PACE)
        lane->pace += lane->pace / EVENT_PACE;
    lane->quiet = lane->pace / EVENT_PACE;
    if (is_late && since < EVENT_SOON && lane->clock == clock)
        return false;
    lane->looked = now;
    return true;
}

static __attribute__((noinline)) bool event_tell_time(struct lane *lane, uint64_t clock)
{
    if (!lane_reserve(lane, 2))
        return false;
    /* A sequence tells no time: there the collector's clock is the time. */
    bool is_counted = share.stamp_kind != SEGMENT_STAMP_SEQUENCE || lane->clock == 0;
    uint64_t now = is_counted ? lane_now() : clock;
    lane->quiet = EVENT_QUIET;
    if (share.stamp_kind == SEGMENT_STAMP_TSC && !event_set_pace(lane, now, clock))
        return true;
    lane->at[1] = now;
    lane_publish(lane, RECORD_STAMP, 2);
    lane->clock = clock;
    return true;
}

/* Before an unstamped record: tells the time if that may have moved. */
static inline bool event_put_clock(struct lane *lane)
{
    uint64_t clock = __atomic_load_n(&share.head->clock, __ATOMIC_RELAXED);
    if (LIKELY(clock == lane->clock && --lane->quiet != 0))
        return true;
    return event_tell_time(lane, clock);
}

/* Room for a short record and, when it will not be stamped, the time. */
static inline bool event_prepare(struct lane *lane, bool is_stamped)
{
    if (is_stamped)
        lane->clock = 0;
    else if (UNLIKELY(!event_put_clock(lane)))
        return false;
    return LIKELY(lane->at <= lane->limit) || lane_reserve(lane, LANE_RECORD_WORDS);
}

static __attribute__((noinline)) void event_put_alloc_long(struct lane *lane, const void *block, size_t size,
                                                           size_t usable, enum record_kind kind,
                                                           uint32_t stack, const void *old)
{
    lane->at[1] = (uint64_t)(uintptr_t)block;
    lane->at[2] = size;
    lane->at[3] = usable;
    lane->at[4] = lane_now();
    lane->at[5] = (uint64_t)(uintptr_t)old;
    lane_publish(lane, RECORD_ALLOC_LONG | (uint64_t)kind << 8 | (uint64_t)stack << 32, 6);
}

/* Asks an allocator other than glibc's, which may itself allocate to answer
 * (tcmalloc does, the first time): that block goes without an answer. */
static __attribute__((noinline)) size_t event_ask_usable_size(const void *block, size_t size)
{
    static __thread bool is_asking __attribute__((tls_model("initial-exec")));
    if (is_asking || !real.has_usable_size)
        return size;
    is_asking = true;
    size_t usable = real.malloc_usable_size((void *)(uintptr_t)block);
    is_asking = false;
    return usable;
}

/* What the allocator really gave; to be called before the lane is entered. glibc
 * keeps the size of a block in the word before it, flags in the low three bits;
 * bit 1 marks a mapping of its own, bit 2 an arena other than the main one. The latter
 * stays where it is (RECORD_OTHER_ARENA): a usable size is a multiple of 8. */
static inline size_t event_usable_size(const void *block, size_t size)
{
    if (UNLIKELY(!real.is_glibc))
        return event_ask_usable_size(block, size);
    size_t word = ((const size_t *)block)[-1];
    return (word & ~(size_t)3) - ((word & 2) != 0 ? 16 : 8);
}

static inline __attribute__((always_inline)) void event_put_alloc(struct lane *lane, const void *block,
                                                                  size_t size, size_t usable,
                                                                  enum record_kind kind, uint32_t stack,
                                                                  const void *old)
{
    uint64_t address = (uint64_t)(uintptr_t)block;
    size_t slack = usable - size;
    bool is_stamped = event_is_stamped();
    if (UNLIKELY(!event_prepare(lane, is_stamped)))
        return;
    if (UNLIKELY((size >> RECORD_SIZE_BITS | slack >> RECORD_SLACK_BITS | address >> RECORD_ADDRESS_BITS) !=
                 0)) {
        event_put_alloc_long(lane, block, size, usable > size ? usable : size, kind, stack, old);
        return;
    }
    uint64_t *at = lane->at;
    unsigned words = 2;
    at[1] = address | (uint64_t)slack << RECORD_ADDRESS_BITS;
    if (is_stamped)
        at[words++] = lane_now();
    if (kind == KIND_REALLOC)
        at[words++] = (uint64_t)(uintptr_t)old;
    uint64_t op = RECORD_ALLOC | (is_stamped ? RECORD_STAMPED : 0) | kind;
    lane_publish(lane, op | (uint64_t)size << 8 | (uint64_t)stack << 32, words);
    TRACE(TRACE_HOOKS, 2, "alloc %x of %u bytes, stack %u", address, size, stack);
}

static inline __attribute__((always_inline)) void event_write_free(struct lane *lane, const void *block,
                                                                   enum record_how how)
{
    uint64_t address = (uint64_t)(uintptr_t)block;
    bool is_stamped = event_is_stamped();
    if (UNLIKELY(!event_prepare(lane, is_stamped)))
        return;
    uint64_t *at = lane->at;
    if (UNLIKELY(address >> RECORD_ADDRESS_BITS != 0)) {
        at[1] = address;
        at[2] = lane_now();
        lane_publish(lane, RECORD_FREE_LONG | (uint64_t)how << 8, 3);
        return;
    }
    if (is_stamped)
        at[1] = lane_now();
    lane_publish(lane, RECORD_FREE | (is_stamped ? RECORD_STAMPED : 0) | how | address << 16,
                 is_stamped ? 2 : 1);
    TRACE(TRACE_HOOKS, 2, "free %x, how %u", address, how, 0);
}

void event_put_free(struct lane *lane, const void *block, enum record_how how)
{
    event_write_free(lane, block, how);
}

void event_alloc_plain(const void *block, size_t size, enum record_kind kind, const void *frame)
{
    size_t usable = event_usable_size(block, size);
    struct lane *lane = lane_enter(frame);
    if (UNLIKELY(lane == NULL))
        return;
    event_put_alloc(lane, block, size, usable, kind, stack_take(lane, frame), NULL);
    lane_leave(lane);
}

bool event_free_plain(const void *block, enum record_how how, const void *frame)
{
    struct lane *lane = lane_enter(frame);
    if (UNLIKELY(lane == NULL))
        return false;
    event_write_free(lane, block, how);
    lane_leave(lane);
    return true;
}

/* --------------------------------------------------- off, sampled, stacks of releases */

/* Is a block of this size to be told of? Of samples most are not. */
static inline bool event_is_wanted(size_t size)
{
    return (sampling_rate == 0 || sampling_takes(size)) && share_state() == SEGMENT_ON;
}

static __attribute__((noinline)) void event_tell_alloc(const void *block, size_t size, size_t usable,
                                                       enum record_kind kind, const void *old,
                                                       const void *frame)
{
    struct lane *lane = lane_enter(frame);
    if (lane == NULL)
        return;
    if (sampling_rate != 0)
        sampling_mark(block);
    event_put_alloc(lane, block, size, usable, kind, stack_take(lane, frame), old);
    lane_leave(lane);
}

void event_alloc_otherwise(const void *block, size_t size, enum record_kind kind, const void *frame)
{
    if (event_is_wanted(size))
        event_tell_alloc(block, size, event_usable_size(block, size), kind, NULL, frame);
}

static void event_put_free_stack(struct lane *lane, const void *block, enum record_how how, const void *frame)
{
    uint64_t stack = stack_take(lane, frame);
    if (lane_reserve(lane, 3)) {
        lane->at[1] = (uint64_t)(uintptr_t)block;
        lane->at[2] = lane_now();
        lane_publish(lane, RECORD_FREE_STACK | (uint64_t)how << 8 | stack << 32, 3);
        lane->clock = 0;
    }
}

static __attribute__((noinline)) bool event_tell_free(const void *block, enum record_how how,
                                                      const void *frame)
{
    uint32_t mode = share_mode();
    if ((mode & SEGMENT_STATE_MASK) == SEGMENT_OFF && !share_passes(block))
        return false;
    struct lane *lane = lane_enter(frame);
    if (UNLIKELY(lane == NULL))
        return false;
    if ((mode & SEGMENT_FREE_STACKS) != 0)
        event_put_free_stack(lane, block, how, frame);
    else
        event_write_free(lane, block, how);
    lane_leave(lane);
    return true;
}

bool event_free_otherwise(const void *block, enum record_how how, const void *frame)
{
    if (sampling_rate == 0)
        return event_tell_free(block, how, frame);
    if (!sampling_may_have(block) || !event_tell_free(block, how, frame))
        return false;
    sampling_take(block);
    return true;
}

void event_realloc(const void *block, size_t size, const void *old, bool is_told, const void *frame)
{
    const void *from = is_told ? old : NULL;
    if (UNLIKELY(!share_is_plain())) {
        if (event_is_wanted(size))
            event_tell_alloc(block, size, event_usable_size(block, size), KIND_REALLOC, from, frame);
        else if (is_told)
            event_realloc_freed(old, frame);
        return;
    }
    size_t usable = event_usable_size(block, size);
    struct lane *lane = lane_enter(frame);
    if (UNLIKELY(lane == NULL))
        return;
    event_put_alloc(lane, block, size, usable, KIND_REALLOC, stack_take(lane, frame), from);
    lane_leave(lane);
}

void event_alloc_foreign(const void *block, size_t size, enum record_kind kind, const void *old,
                         const void *frame)
{
    if (event_is_wanted(size))
        event_tell_alloc(block, size, size, kind, old, frame);
    else if (old != NULL)
        event_realloc_freed(old, frame);
}

/* A record without a stack that always carries its stamp: op, value, stamp. */
static void event_put_plain(enum record_op op, const void *value, const void *frame)
{
    struct lane *lane = lane_enter(frame);
    if (lane == NULL)
        return;
    if (lane_reserve(lane, 3)) {
        lane->at[1] = (uint64_t)(uintptr_t)value;
        lane->at[2] = lane_now();
        lane_publish(lane, op, 3);
    }
    lane_leave(lane);
}

void event_realloc_failed(const void *old, const void *frame)
{
    if (sampling_rate != 0)
        sampling_put_back(old);
    event_put_plain(RECORD_REALLOC_FAILED, old, frame);
}

void event_realloc_freed(const void *old, const void *frame)
{
    event_put_plain(RECORD_REALLOC_FREED, old, frame);
}

void event_map(const void *at, size_t length, int prot, int flags, const void *frame)
{
    if (share_state() != SEGMENT_ON)
        return;
    struct lane *lane = lane_enter(frame);
    if (lane == NULL)
        return;
    uint64_t stack = stack_take(lane, frame);
    if (lane_reserve(lane, 5)) {
        lane->at[1] = (uint64_t)(uintptr_t)at;
        lane->at[2] = length;
        lane->at[3] = (uint32_t)prot | (uint64_t)(uint32_t)flags << 32;
        lane->at[4] = lane_now();
        lane_publish(lane, RECORD_MMAP | stack << 32, 5);
    }
    lane_leave(lane);
}

static void event_put_pair(enum record_op op, uint64_t first, uint64_t second, const void *frame)
{
    struct lane *lane = lane_enter(frame);
    if (lane == NULL)
        return;
    uint64_t stack = stack_take(lane, frame);
    if (lane_reserve(lane, 4)) {
        lane->at[1] = first;
        lane->at[2] = second;
        lane->at[3] = lane_now();
        lane_publish(lane, op | stack << 32, 4);
    }
    lane_leave(lane);
}

void event_unmap(const void *at, size_t length, const void *frame)
{
    event_put_pair(RECORD_MUNMAP, (uint64_t)(uintptr_t)at, length, frame);
}

void event_brk(const void *old_end, const void *new_end, const void *frame)
{
    if (share_state() != SEGMENT_ON)
        return;
    event_put_pair(RECORD_BRK, (uint64_t)(uintptr_t)old_end, (uint64_t)(uintptr_t)new_end, frame);
}

static void event_put_name(struct lane *lane, uint32_t tid, const uint64_t name[2])
{
    if (!lane_reserve(lane, 3))
        return;
    lane->at[1] = name[0];
    lane->at[2] = name[1];
    lane_publish(lane, RECORD_NAME | (uint64_t)tid << 32, 3);
}

void event_meet(const void *frame)
{
    if (life.state != LIFE_ON || tls_lane != NULL)
        return;
    struct lane *lane = lane_enter(frame);
    if (lane != NULL)
        lane_leave(lane);
}

void event_thread_name(uint32_t tid, const char *name, const void *frame)
{
    struct lane *lane = lane_enter(frame);
    if (lane == NULL)
        return;
    uint64_t words[2] = {0};
    char *text = (char *)words;
    for (unsigned i = 0; i < 15 && name[i] != '\0'; i++)
        text[i] = name[i];
    event_put_name(lane, tid != 0 ? tid : lane->tid, words);
    lane_leave(lane);
}

void event_fork(uint32_t child, enum record_fork how, const void *frame)
{
    struct lane *lane = lane_enter(frame);
    if (lane == NULL)
        return;
    if (lane_reserve(lane, 2)) {
        lane->at[1] = lane_now();
        lane_publish(lane, RECORD_FORK | (uint64_t)how << 8 | (uint64_t)child << 32, 2);
    }
    lane_leave(lane);
}

void event_put_early(struct lane *lane, const void *block, size_t size)
{
    bool is_wanted = (share.first_control & SEGMENT_STATE_MASK) == SEGMENT_ON && sampling_rate == 0;
    if (!is_wanted || !lane_reserve(lane, 4))
        return;
    lane->at[1] = (uint64_t)(uintptr_t)block;
    lane->at[2] = size;
    lane->at[3] = size;
    lane_publish(lane, RECORD_EARLY | (uint64_t)KIND_MALLOC << 8, 4);
}

static void event_get_name(uint64_t name[2])
{
    name[0] = name[1] = 0;
    if (!life_sandbox)
        sys_prctl(PR_GET_NAME, name);
}

void event_put_thread(struct lane *lane)
{
    uint64_t name[2], later[2];
    if (!lane_reserve(lane, 5))
        return;
    event_get_name(name);
    lane->at[1] = lane->thread;
    lane->at[2] = name[0];
    lane->at[3] = name[1];
    lane->at[4] = lane_now();
    lane_publish(lane, RECORD_THREAD | (uint64_t)lane->tid << 32, 5);
    share_count_definition();
    lane->clock = 0;
    if (!lane->is_nested) {
        lane_show(lane);
        event_get_name(later); /* whoever gave it one before that did not find us */
        if (later[0] != name[0] || later[1] != name[1])
            event_put_name(lane, lane->tid, later);
    }
    TRACE(TRACE_HOOKS, 1, "thread %u has lane %u, number %u", lane->tid, lane->index, lane->thread);
}

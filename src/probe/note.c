/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * note: see note.h.
 *
 * A name goes ahead as a TEXT record with a number of its own; the record that
 * needs it names the number.  The same name twice is two texts: these calls
 * are rare, and the collector writes each mark's name anyway.
 */
#include "probe/note.h"

#include "probe/event.h"
#include "probe/lane.h"
#include "probe/life.h"
#include "probe/memory.h"
#include "probe/share.h"
#include "probe/stack.h"

enum { NOTE_POOLS_MAX = 256, NOTE_NAME_MAX = 64, NOTE_UNIT_MAX = 32 };

/* The number of the text, 0 = there is none. */
static uint32_t note_text(struct lane *lane, const char *text)
{
    size_t length = 0;
    if (text == NULL)
        return 0;
    while (length < RECORD_TEXT_MAX && text[length] != '\0') {
        length++;
        __asm__ volatile("" ::: "memory"); /* keeps the loop a loop: no call to strnlen */
    }
    unsigned words = 2 + (unsigned)(length + 7) / 8;
    if (!lane_reserve(lane, words))
        return 0;
    uint32_t number = __atomic_add_fetch(&share.head->text_count, 1, __ATOMIC_RELAXED);
    lane->at[1] = number;
    memory_copy(lane->at + 2, text, length);
    lane_publish(lane, RECORD_TEXT | (uint64_t)length << 16 | (uint64_t)words << 32, words);
    share_count_definition();
    return number;
}

uint64_t note_mark(enum record_mark mark, const char *name, bool is_awaited, const void *frame)
{
    uint64_t request = 0;
    struct lane *lane = lane_enter(frame);
    if (lane == NULL)
        return 0;
    uint64_t text = note_text(lane, name);
    if (lane_reserve(lane, 3)) {
        request = is_awaited ? share_ask() : 0;
        lane->at[1] = lane_now();
        lane->at[2] = request;
        lane_publish(lane, RECORD_MARK | (uint64_t)mark << 8 | text << 32, 3);
        lane->clock = 0;
    }
    lane_leave(lane);
    return request;
}

void note_ignore(const void *block, const void *frame)
{
    if (block == NULL || (share_state() == SEGMENT_OFF && !share_passes(block)))
        return;
    share_note_gaps(); /* its release will be one of a block that is not known */
    struct lane *lane = lane_enter(frame);
    if (lane == NULL)
        return;
    event_put_free(lane, block, HOW_IGNORE);
    lane_leave(lane);
}

/* ---------------------------------------------------------------------- pools */

/* A pool keeps its name, since a forked child has to tell it anew. */
struct note_pool {
    char name[NOTE_NAME_MAX];
    char unit[NOTE_UNIT_MAX];
    uint32_t is_set;
    uint32_t told_by; /* the process that has told of it: life.epoch + 1 */
};

static struct note_pool note_pools[NOTE_POOLS_MAX];
static uint32_t note_pool_count;

static void note_copy(char *to, size_t room, const char *from)
{
    for (size_t i = 0; i + 1 < room && from != NULL && from[i] != '\0'; i++)
        to[i] = from[i];
}

static bool note_is_same(const char *kept, size_t room, const char *name)
{
    size_t i = 0;
    while (i + 1 < room && name[i] != '\0' && kept[i] == name[i])
        i++;
    return kept[i] == '\0' && (name[i] == '\0' || i + 1 == room);
}

/* Before the first block of the pool in each process.  Threads that are here at once all tell: none
 * may go on before it has been told. */
static void note_tell_pool(struct lane *lane, uint32_t number)
{
    struct note_pool *pool = &note_pools[number - 1];
    if (__atomic_load_n(&pool->told_by, __ATOMIC_ACQUIRE) == lane->epoch + 1)
        return;
    uint64_t name = note_text(lane, pool->name), unit = note_text(lane, pool->unit);
    if (lane_reserve(lane, 2)) {
        lane->at[1] = name | unit << 32;
        lane_publish(lane, RECORD_POOL | (uint64_t)number << 32, 2);
        share_count_definition();
        __atomic_store_n(&pool->told_by, lane->epoch + 1, __ATOMIC_RELEASE);
    }
}

uint32_t note_pool(const char *name, const char *unit)
{
    if (!life_begin() || life.state != LIFE_ON)
        return 0;
    if (name == NULL)
        name = "";
    uint32_t count = __atomic_load_n(&note_pool_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && i < NOTE_POOLS_MAX; i++) {
        if (__atomic_load_n(&note_pools[i].is_set, __ATOMIC_ACQUIRE) &&
            note_is_same(note_pools[i].name, NOTE_NAME_MAX, name))
            return i + 1;
    }
    if (count >= NOTE_POOLS_MAX)
        return 0;
    uint32_t index = __atomic_fetch_add(&note_pool_count, 1, __ATOMIC_ACQ_REL);
    if (index >= NOTE_POOLS_MAX)
        return 0;
    note_copy(note_pools[index].name, NOTE_NAME_MAX, name);
    note_copy(note_pools[index].unit, NOTE_UNIT_MAX, unit);
    __atomic_store_n(&note_pools[index].is_set, 1, __ATOMIC_RELEASE);
    return index + 1;
}

void note_pool_alloc(uint32_t pool, const void *block, size_t size, const void *frame)
{
    if (pool == 0 || pool > NOTE_POOLS_MAX || share_state() != SEGMENT_ON)
        return;
    struct lane *lane = lane_enter(frame);
    if (lane == NULL)
        return;
    note_tell_pool(lane, pool);
    uint64_t stack = stack_take(lane, frame);
    if (lane_reserve(lane, 5)) {
        lane->at[1] = (uint64_t)(uintptr_t)block;
        lane->at[2] = size;
        lane->at[3] = pool;
        lane->at[4] = lane_now();
        lane_publish(lane, RECORD_POOL_ALLOC | stack << 32, 5);
        lane->clock = 0;
    }
    lane_leave(lane);
}

void note_pool_free(uint32_t pool, const void *block, const void *frame)
{
    if (pool == 0 || pool > NOTE_POOLS_MAX)
        return;
    struct lane *lane = lane_enter(frame);
    if (lane == NULL)
        return;
    if (lane_reserve(lane, 3)) {
        lane->at[1] = (uint64_t)(uintptr_t)block;
        lane->at[2] = lane_now();
        lane_publish(lane, RECORD_POOL_FREE | (uint64_t)pool << 32, 3);
        lane->clock = 0;
    }
    lane_leave(lane);
}

/* ----------------------------------------------------------------- suppression */

/* How deep this thread is in such scopes: a forked child, which is told of anew, still is. */
static __thread uint32_t tls_suppressed __attribute__((tls_model("initial-exec")));

static void note_tell_suppress(bool begins, const void *frame)
{
    struct lane *lane = lane_enter(frame);
    if (lane == NULL)
        return;
    share_note_gaps();
    if (lane_reserve(lane, 1))
        lane_publish(lane, RECORD_SUPPRESS | (uint64_t)begins << 8, 1);
    lane_leave(lane);
}

void note_suppress(bool begins, const void *frame)
{
    if (begins && tls_suppressed != UINT32_MAX)
        tls_suppressed++;
    else if (!begins && tls_suppressed != 0)
        tls_suppressed--;
    note_tell_suppress(begins, frame);
}

void note_forked(const void *frame)
{
    enum { DEEP = 256 };
    for (uint32_t i = 0; i < tls_suppressed && i < DEEP; i++)
        note_tell_suppress(true, frame);
}

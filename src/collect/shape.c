/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * shape: see shape.h.
 */
#include "collect/shape.h"

#include "collect/item.h"
#include "wire/record.h"

#define EVENTS                                                                                         \
    ALLOC(KIND_MALLOC), ALLOC(KIND_CALLOC), ALLOC(KIND_MEMALIGN), ALLOC(KIND_ALIGNED_ALLOC),           \
        ALLOC(KIND_POSIX_MEMALIGN), ALLOC(KIND_VALLOC), ALLOC(KIND_PVALLOC), ALLOC(KIND_NEW),          \
        ALLOC(KIND_NEW_ARRAY), ALLOC(KIND_NEW_ALIGNED), ALLOC(KIND_NEW_ARRAY_ALIGNED), FREE(HOW_FREE), \
        FREE(HOW_DELETE), FREE(HOW_DELETE_ARRAY), FREE(HOW_FREE_SIZED), FREE(HOW_IGNORE),              \
        EVENT(RECORD_FREE | HOW_REALLOC, 1, SHAPE_EVENT(ITEM_RELEASE, HOW_REALLOC)),                   \
        EVENT(RECORD_ALLOC | KIND_REALLOC, 3, SHAPE_EVENT(ITEM_ALLOC, KIND_REALLOC) | SHAPE_MORE)

#define ALLOC(kind) EVENT(RECORD_ALLOC | (kind), 2, SHAPE_EVENT(ITEM_ALLOC, kind))
#define FREE(how) EVENT(RECORD_FREE | (how), 1, SHAPE_EVENT(ITEM_FREE, how))

#define EVENT(record, words, event) \
    [record] = (words) | (event), [(record) | RECORD_STAMPED] = ((words) + 1) | (event)

const int32_t shape_events[256] = {EVENTS};

#undef EVENT
#define EVENT(record, words, event) [record] = (words), [(record) | RECORD_STAMPED] = (words) + 1

static const uint8_t shape_words[256] = {
    EVENTS,
    [RECORD_CHUNK] = 1,
    [RECORD_LINK] = 1,
    [RECORD_STAMP] = 2,
    [RECORD_THREAD] = 5,
    [RECORD_NAME] = 3,
    [RECORD_STACK] = 3,
    [RECORD_ALLOC_LONG] = 6,
    [RECORD_FREE_LONG] = 3,
    [RECORD_REALLOC_FAILED] = 3,
    [RECORD_REALLOC_FREED] = 3,
    [RECORD_MMAP] = 5,
    [RECORD_MUNMAP] = 4,
    [RECORD_BRK] = 4,
    [RECORD_LOST] = 2,
    [RECORD_FORK] = 2,
    [RECORD_EARLY] = 4,
    [RECORD_GONE] = 4,
    [RECORD_MARK] = 3,
    [RECORD_POOL] = 2,
    [RECORD_POOL_ALLOC] = 5,
    [RECORD_POOL_FREE] = 3,
    [RECORD_FREE_STACK] = 3,
    [RECORD_SUPPRESS] = 1,
};

uint32_t shape_measure(uint64_t first)
{
    unsigned op = first & 0xff;
    uint32_t high = (uint32_t)(first >> 32);
    if (op == RECORD_FRAMES)
        return high == 0 || high > RECORD_FRAMES_MAX ? 0 : 1 + high;
    if (op == RECORD_MODULE)
        return high < 5 || high > RECORD_MODULE_WORDS_MAX ? 0 : high;
    if (op == RECORD_TEXT)
        return high < 2 || high > RECORD_TEXT_WORDS_MAX ? 0 : high;
    return shape_words[op];
}

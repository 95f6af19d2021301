/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * event: what hooks call to tell of an allocation, a release, a mapping.
 *
 * `frame` is __builtin_frame_address(0) of the hook: the walk starts at its
 * caller. All functions may be called in any thread and any handler; they keep
 * errno and make no system call on the common path.
 *
 * event_put_* write to a lane that the caller has entered.
 *
 * While recording is off (wire/segment.h) allocations are not told, and of the
 * releases only those of blocks that were.
 */
#ifndef HW_PROBE_EVENT_H
#define HW_PROBE_EVENT_H

#include "probe/share.h"
#include "wire/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lane;

/* The first is for a caller who knows that share_is_plain, the second for all else. */
void event_alloc_plain(const void *block, size_t size, enum record_kind kind, const void *frame);
void event_alloc_otherwise(const void *block, size_t size, enum record_kind kind, const void *frame);
static inline void event_alloc(const void *block, size_t size, enum record_kind kind, const void *frame)
{
    if (__builtin_expect(share_is_plain(), 1))
        event_alloc_plain(block, size, kind, frame);
    else
        event_alloc_otherwise(block, size, kind, frame);
}

/* Of an allocator that is not malloc's: what it really gave is not asked.  old: what it was before a realloc, or NULL. */
void event_alloc_foreign(const void *block, size_t size, enum record_kind kind, const void *old,
                         const void *frame);

/* False: it was not told.  The second is for a caller who knows that share_is_plain. */
bool event_free_otherwise(const void *block, enum record_how how, const void *frame);
bool event_free_plain(const void *block, enum record_how how, const void *frame);
static inline bool event_free(const void *block, enum record_how how, const void *frame)
{
    return share_is_plain() ? event_free_plain(block, how, frame) : event_free_otherwise(block, how, frame);
}

/* After the real call: `block` is the new one.  is_told: the release of the old one was. */
void event_realloc(const void *block, size_t size, const void *old, bool is_told, const void *frame);
void event_realloc_failed(const void *old, const void *frame);
void event_realloc_freed(const void *old, const void *frame);

void event_map(const void *at, size_t length, int prot, int flags, const void *frame);
void event_unmap(const void *at, size_t length, const void *frame);
void event_brk(const void *old_end, const void *new_end, const void *frame);

/* The thread has a new name; tid 0: the calling thread. */
/* The calling thread is known from now on, if it was not: it may soon be too late to ask who it is. */
void event_meet(const void *frame);
void event_thread_name(uint32_t tid, const char *name, const void *frame);
void event_fork(uint32_t child, enum record_fork how, const void *frame);

void event_put_early(struct lane *lane, const void *block, size_t size);
void event_put_free(struct lane *lane, const void *block, enum record_how how);
void event_put_thread(struct lane *lane);

#endif

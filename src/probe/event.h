/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * event: what hooks call to tell of an allocation, a release, a mapping.
 *
 * `frame` is __builtin_frame_address(0) of the hook: the walk starts at its
 * caller. All functions may be called in any thread and any handler; they keep
 * errno and make no system call on the common path.
 *
 * event_put_* write to a lane that the caller has entered.
 */
#ifndef HW_PROBE_EVENT_H
#define HW_PROBE_EVENT_H

#include "wire/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lane;

void event_alloc(const void *block, size_t size, enum record_kind kind, const void *frame);
/* False: the block was not sampled, and nothing is told of it. */
bool event_free(const void *block, enum record_how how, const void *frame);

/* After the real call: `block` is the new one; old NULL: its release was not told. */
void event_realloc(const void *block, size_t size, const void *old, const void *frame);
void event_realloc_failed(const void *old, const void *frame);
void event_realloc_freed(const void *old, const void *frame);

void event_map(const void *at, size_t length, int prot, int flags, const void *frame);
void event_unmap(const void *at, size_t length, const void *frame);
void event_brk(const void *old_end, const void *new_end, const void *frame);

/* The calling thread has a new name. */
void event_thread_name(const char *name, const void *frame);
void event_fork(uint32_t child, const void *frame);

void event_put_early(struct lane *lane, const void *block, size_t size);
void event_put_free(struct lane *lane, const void *block, enum record_how how);
void event_put_thread(struct lane *lane);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * note: what the program itself tells through include/heapwake.h: names for
 * moments, blocks that do not count, blocks of its own allocators.
 *
 * As event.h: any thread, any handler, errno is kept.  Only share_await, for
 * those who want an answer, makes system calls.
 */
#ifndef HW_PROBE_NOTE_H
#define HW_PROBE_NOTE_H

#include "wire/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the request to wait for (share_await); 0: nobody would answer. */
uint64_t note_mark(enum record_mark mark, const char *name, bool is_awaited, const void *frame);
void note_ignore(const void *block, const void *frame);

/* The pool of that name, whose blocks are not malloc's; 0: nobody is told of it. */
uint32_t note_pool(const char *name, const char *unit);
void note_pool_alloc(uint32_t pool, const void *block, size_t size, const void *frame);
void note_pool_free(uint32_t pool, const void *block, const void *frame);

/* What this thread allocates does not count from now on, or does again.  The collector leaves it
 * out: no event has to ask. */
void note_suppress(bool begins, const void *frame);
/* In a forked child: what its thread had begun holds here too. */
void note_forked(const void *frame);

#endif

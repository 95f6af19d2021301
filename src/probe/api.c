/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * api: include/heapwake.h. Each call is a record in the thread's lane, or a word
 * in the head; those that wait are answered by the collector.
 */
#define HEAPWAKE_API
#include "heapwake.h"

#include "probe/event.h"
#include "probe/hook.h"
#include "probe/lane.h"
#include "probe/life.h"
#include "probe/note.h"
#include "probe/share.h"

/* A child that nobody has seen being forked begins its own recording before it changes anything of it. */
static void api_arrive(void)
{
    if (life_begin() && life.state == LIFE_ON && *lane_fork_word == 0)
        (void)life_renew();
}

HOOK void heapwake_enable(void)
{
    api_arrive();
    if (share_switch(true))
        (void)note_mark(MARK_ON, NULL, false, HOOK_FRAME);
}

HOOK void heapwake_disable(void)
{
    api_arrive();
    if (share_switch(false))
        (void)note_mark(MARK_OFF, NULL, false, HOOK_FRAME);
}

HOOK int heapwake_is_enabled(void)
{
    return life_begin() && life.state == LIFE_ON && share_state() == SEGMENT_ON;
}

HOOK void heapwake_tag(const char *name)
{
    (void)note_mark(MARK_TAG, name, false, HOOK_FRAME);
}

/* Tells, and waits for the answer. */
static int api_ask(enum record_mark mark, const char *name, const void *frame)
{
    int saved = errno;
    bool is_done = share_await(note_mark(mark, name, true, frame), UINT64_MAX);
    errno = saved;
    return is_done ? 0 : -1;
}

HOOK int heapwake_snapshot(const char *name)
{
    return api_ask(MARK_TAG, name, HOOK_FRAME);
}

HOOK int heapwake_report(const char *name)
{
    return api_ask(MARK_REPORT, name, HOOK_FRAME);
}

HOOK int heapwake_flush(void)
{
    return api_ask(MARK_FLUSH, NULL, HOOK_FRAME);
}

HOOK void heapwake_thread_name(const char *name)
{
    event_thread_name(0, name == NULL ? "" : name, HOOK_FRAME);
}

HOOK void heapwake_ignore(const void *block)
{
    note_ignore(block, HOOK_FRAME);
}

HOOK void heapwake_suppress_begin(void)
{
    note_suppress(true, HOOK_FRAME);
}

HOOK void heapwake_suppress_end(void)
{
    note_suppress(false, HOOK_FRAME);
}

HOOK unsigned heapwake_pool(const char *name, const char *unit)
{
    return note_pool(name, unit == NULL ? "bytes" : unit);
}

HOOK void heapwake_report_alloc(unsigned pool, const void *block, size_t size)
{
    note_pool_alloc(pool, block, size, HOOK_FRAME);
}

HOOK void heapwake_report_free(unsigned pool, const void *block)
{
    note_pool_free(pool, block, HOOK_FRAME);
}

HOOK void heapwake_report_realloc(unsigned pool, const void *old, const void *block, size_t size)
{
    if (old != NULL)
        note_pool_free(pool, old, HOOK_FRAME);
    note_pool_alloc(pool, block, size, HOOK_FRAME);
}

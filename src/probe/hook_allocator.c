/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hook_allocator: what jemalloc, tcmalloc and mimalloc have under names of their own (allocator_list.h). How calls come
 * here: rebind.h. A block of the early pool (early.h) never reaches the allocator.
 */
#include "probe/early.h"
#include "probe/event.h"
#include "probe/hook.h"
#include "probe/memory.h"
#include "probe/real.h"
#include "probe/rebind.h"
#include "probe/share.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "probe/allocator_list.h" /* the last: its names are short */

enum hook_function {
#define X(shape, name, what, size, PARAMETERS, PASSED) FUNCTION_##name,
    ALLOCATOR_LIST(X)
#undef X
        FUNCTION_COUNT
};

const unsigned rebind_count = FUNCTION_COUNT;
bool rebind_is_zeroed;

static inline rebind_function *hook_function(enum hook_function f)
{
    return __atomic_load_n(&rebind_list[f].real, __ATOMIC_RELAXED);
}

static inline size_t hook_product(size_t count, size_t size)
{
    size_t total;
    return __builtin_mul_overflow(count, size, &total) ? SIZE_MAX : total;
}

static size_t hook_wide_length(const void *text)
{
    const uint16_t *t = text;
    size_t n = 0;
    while (t[n++] != 0)
        ;
    return n * sizeof *t;
}

static size_t hook_usable(enum hook_function f, void *block, size_t size)
{
    return rebind_list[f].is_foreign || !real.has_usable_size ? size : real.malloc_usable_size(block);
}

static void hook_zero(enum hook_function f, void *block, size_t from, size_t size)
{
    size_t usable = hook_usable(f, block, size);
    if (from < usable)
        memory_zero((unsigned char *)block + from, usable - from);
}

/* ---------------------------------------------------------------- what is told */

static void hook_made(enum hook_function f, void *block, size_t size, enum record_kind kind,
                      const void *frame)
{
    if (HOOK_RARE(rebind_is_zeroed) && kind != KIND_CALLOC)
        hook_zero(f, block, 0, size);
    if (HOOK_RARE(rebind_list[f].is_foreign))
        event_alloc_foreign(block, size, kind, NULL, frame);
    else
        event_alloc(block, size, kind, frame);
}

/* After a realloc of any form; had: what the old one held, where that matters. */
static void hook_changed(enum hook_function f, void *block, size_t size, const void *old, bool is_told,
                         size_t had, const void *frame)
{
    if (old == NULL) {
        hook_made(f, block, size, KIND_MALLOC, frame);
        return;
    }
    if (HOOK_RARE(rebind_is_zeroed))
        hook_zero(f, block, had, size);
    if (HOOK_RARE(rebind_list[f].is_foreign))
        event_alloc_foreign(block, size, KIND_REALLOC, is_told ? old : NULL, frame);
    else
        event_realloc(block, size, old, is_told, frame);
}

static void hook_unchanged(const void *old, bool is_told, bool is_freed, const void *frame)
{
    if (is_told && is_freed)
        event_realloc_freed(old, frame);
    else if (is_told)
        event_realloc_failed(old, frame);
}

/* Where it is: the allocator says what it holds from now on. */
static void hook_resized(enum hook_function f, void *block, size_t size, bool is_done, bool is_told,
                         size_t had, const void *frame)
{
    if (is_done)
        hook_changed(f, block, size, block, is_told, had, frame);
    else
        hook_unchanged(block, is_told, false, frame);
}

static inline bool hook_release_begin(const void *old, const void *frame)
{
    return old != NULL && event_free(old, HOW_REALLOC, frame);
}

static inline size_t hook_had(enum hook_function f, void *old, size_t size)
{
    return HOOK_RARE(rebind_is_zeroed) && old != NULL ? hook_usable(f, old, size) : 0;
}

/* ---------------------------------------------------------------------- shapes */

#define REAL(result, name, PARAMETERS) ((result(*) PARAMETERS)hook_function(FUNCTION_##name))

#define DEFINE_MAKE(name, kind, size_of, PARAMETERS, PASSED)              \
    HOOK_TOLD void *own_##name PARAMETERS                                 \
    {                                                                     \
        void *block = REAL(void *, name, PARAMETERS) PASSED;              \
        if (HOOK_OFTEN(block != NULL))                                    \
            hook_made(FUNCTION_##name, block, size_of, kind, HOOK_FRAME); \
        return block;                                                     \
    }
#define DEFINE_FILL(name, kind, size_of, PARAMETERS, PASSED)               \
    HOOK_TOLD int own_##name PARAMETERS                                    \
    {                                                                      \
        int result = REAL(int, name, PARAMETERS) PASSED;                   \
        if (HOOK_OFTEN(result == 0 && *block != NULL))                     \
            hook_made(FUNCTION_##name, *block, size_of, kind, HOOK_FRAME); \
        return result;                                                     \
    }
#define DEFINE_FREE(name, how, unused, PARAMETERS, PASSED) \
    HOOK_TOLD void own_##name PARAMETERS                   \
    {                                                      \
        if (HOOK_OFTEN(block != NULL))                     \
            (void)event_free(block, how, HOOK_FRAME);      \
        if (HOOK_RARE(early_owns(block)))                  \
            early_free(block);                             \
        else                                               \
            REAL(void, name, PARAMETERS) PASSED;           \
    }
#define DEFINE_CHANGE(name, frees, size_of, PARAMETERS, PASSED)                            \
    HOOK_TOLD void *own_##name PARAMETERS                                                  \
    {                                                                                      \
        if (HOOK_RARE(early_owns(block)))                                                  \
            return realloc(block, size_of);                                                \
        size_t had = hook_had(FUNCTION_##name, block, size_of);                            \
        bool is_told = hook_release_begin(block, HOOK_FRAME);                              \
        void *made = REAL(void *, name, PARAMETERS) PASSED;                                \
        if (HOOK_OFTEN(made != NULL))                                                      \
            hook_changed(FUNCTION_##name, made, size_of, block, is_told, had, HOOK_FRAME); \
        else                                                                               \
            hook_unchanged(block, is_told, frees || (size_of) == 0, HOOK_FRAME);           \
        return made;                                                                       \
    }
#define DEFINE_USABLE(name, unused, size_of, PARAMETERS, PASSED) \
    HOOK_TOLD size_t own_##name PARAMETERS                       \
    {                                                            \
        if (HOOK_RARE(early_owns(block)))                        \
            return early_size(block);                            \
        return REAL(size_t, name, PARAMETERS) PASSED;            \
    }
#define DEFINE_HEAP(name, unused, size_of, PARAMETERS, PASSED) \
    HOOK_TOLD void *own_##name PARAMETERS                      \
    {                                                          \
        share_note_unhooked(SEGMENT_UNHOOKED_HEAPS);           \
        return REAL(void *, name, PARAMETERS) PASSED;          \
    }
#define DEFINE_HAND(name, unused, size_of, PARAMETERS, PASSED)

#define X(shape, name, what, size, PARAMETERS, PASSED) DEFINE_##shape(name, what, size, PARAMETERS, PASSED)
ALLOCATOR_LIST(X)
#undef X

/* --------------------------------------------------------------------- by hand */

HOOK_TOLD size_t own_xallocx(void *block, size_t size, size_t extra, int flags)
{
    if (HOOK_RARE(early_owns(block)))
        return early_size(block);
    size_t had = hook_had(FUNCTION_xallocx, block, size);
    bool is_told = hook_release_begin(block, HOOK_FRAME);
    size_t holds = REAL(size_t, xallocx, (void *, size_t, size_t, int))(block, size, extra, flags);
    size_t most = size + extra < size ? SIZE_MAX : size + extra;
    hook_resized(FUNCTION_xallocx, block, holds < most ? holds : most, holds >= size, is_told, had,
                 HOOK_FRAME);
    return holds;
}

HOOK_TOLD void *own_mi_expand(void *block, size_t size)
{
    if (HOOK_RARE(early_owns(block)))
        return size <= early_size(block) ? block : NULL;
    size_t had = hook_had(FUNCTION_mi_expand, block, size);
    bool is_told = hook_release_begin(block, HOOK_FRAME);
    void *same = REAL(void *, mi_expand, (void *, size_t))(block, size);
    if (block != NULL)
        hook_resized(FUNCTION_mi_expand, block, size, same != NULL, is_told, had, HOOK_FRAME);
    return same;
}

/* BSD's: the block is where `place` points to. */
HOOK_TOLD int own_mi_reallocarr(void *place, size_t count, size_t size)
{
    void **at = place, *old = at == NULL ? NULL : *at;
    size_t total = hook_product(count, size), had;
    if (HOOK_RARE(early_owns(old))) {
        void *made = realloc(old, total);
        if (made != NULL)
            *at = made;
        return made == NULL ? ENOMEM : 0;
    }
    had = hook_had(FUNCTION_mi_reallocarr, old, total);
    bool is_told = hook_release_begin(old, HOOK_FRAME);
    int result = REAL(int, mi_reallocarr, (void *, size_t, size_t))(place, count, size);
    if (result == 0 && at != NULL && *at != NULL)
        hook_changed(FUNCTION_mi_reallocarr, *at, total, old, is_told, had, HOOK_FRAME);
    else
        hook_unchanged(old, is_told, result == 0, HOOK_FRAME);
    return result;
}

HOOK_TOLD char *own_mi_realpath(const char *path, char *resolved)
{
    char *block = REAL(char *, mi_realpath, (const char *, char *))(path, resolved);
    if (block != NULL && block != resolved)
        hook_made(FUNCTION_mi_realpath, block, LENGTH, KIND_MALLOC, HOOK_FRAME);
    return block;
}

static bool hook_is_like(const char *text, const char *pattern)
{
    for (; *pattern != '\0' && *text != '\0'; pattern++) {
        if (*pattern == '*') {
            while (*text != '\0' && *text != '.')
                text++;
        } else if (*text++ != *pattern) {
            return false;
        }
    }
    return *pattern == '\0' && *text == '\0';
}

/* jemalloc's switchboard: what hands out or takes back blocks. */
static void hook_look_at_control(const char *name)
{
    if (name == NULL)
        return;
    if (hook_is_like(name, "arena.*.reset") || hook_is_like(name, "arena.*.destroy"))
        share_note_unhooked(SEGMENT_UNHOOKED_ARENAS);
    else if (hook_is_like(name, "experimental.batch_alloc"))
        share_note_unhooked(SEGMENT_UNHOOKED_BATCH);
}

HOOK_TOLD int own_mallctl(const char *name, void *old, size_t *old_length, void *new, size_t new_length)
{
    hook_look_at_control(name);
    return REAL(int, mallctl, (const char *, void *, size_t *, void *, size_t))(name, old, old_length, new,
                                                                                new_length);
}

HOOK_TOLD int own_mallctlnametomib(const char *name, size_t *mib, size_t *length)
{
    hook_look_at_control(name);
    return REAL(int, mallctlnametomib, (const char *, size_t *, size_t *))(name, mib, length);
}

struct rebind rebind_list[] = {
#define X(shape, name, what, size, PARAMETERS, PASSED) \
    {#name, (rebind_function *)own_##name, NULL, false, NULL},
    ALLOCATOR_LIST(X)
#undef X
};

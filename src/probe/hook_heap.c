/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hook_heap: the malloc family.
 *
 * Each hook makes the real call and tells of it: an acquisition after the call,
 * a release before it, a realloc both. What the program gets back, errno
 * included, is what the real function gave. A block of the early pool never
 * reaches the real allocator.
 *
 * malloc and free are fronts, so that they cost next to nothing while recording is
 * off, or passes over the block because it is no sample: what tells of the call is
 * behind a jump that leaves no frame. The way of a block that is no sample has no
 * jump but the one to the real function: that is nearly all it costs.
 */
#include "probe/early.h"
#include "probe/event.h"
#include "probe/hook.h"
#include "probe/hook_release.h"
#include "probe/life.h"
#include "probe/memory.h"
#include "probe/real.h"
#include "probe/sampling.h"

#include <errno.h>

/* Before the real functions are known. */
HOOK_TOLD void *malloc_first(size_t size)
{
    if (!life_begin())
        return early_alloc(size, 16);
    void *block = real.malloc(size);
    if (block != NULL)
        event_alloc(block, size, KIND_MALLOC, HOOK_FRAME);
    return block;
}

HOOK_TOLD void *malloc_told(size_t size)
{
    void *block = real.malloc(size);
    if (HOOK_OFTEN(block != NULL))
        event_alloc_plain(block, size, KIND_MALLOC, HOOK_FRAME);
    return block;
}

HOOK_TOLD void *malloc_otherwise(size_t size)
{
    void *block = real.malloc(size);
    if (HOOK_OFTEN(block != NULL))
        event_alloc_otherwise(block, size, KIND_MALLOC, HOOK_FRAME);
    else
        sampling_forget();
    return block;
}

/* There may be a sample in these bytes. While recording is off it has gone by too. */
HOOK_TOLD void *malloc_sampled(size_t size)
{
    if (share_state() == SEGMENT_ON)
        return malloc_otherwise(size);
    (void)sampling_takes(size);
    return real.malloc(size);
}

HOOK void *malloc(size_t size)
{
    intptr_t place = sampling_find();
    if (HOOK_OFTEN(place != 0))
        return sampling_passes_at_once(place, size) ? real.malloc(size) : malloc_sampled(size);
    if (HOOK_RARE(real.malloc == NULL))
        return malloc_first(size);
    uint32_t mode = share_mode();
    if (HOOK_OFTEN(mode == SEGMENT_ON))
        return malloc_told(size);
    if ((mode & SEGMENT_STATE_MASK) != SEGMENT_ON)
        return real.malloc(size);
    return malloc_otherwise(size);
}

HOOK void *calloc(size_t count, size_t size)
{
    size_t total;
    if (HOOK_RARE(real.calloc == NULL) && !life_begin())
        return __builtin_mul_overflow(count, size, &total) ? NULL : early_alloc(total, 16);
    void *block = real.calloc(count, size);
    if (HOOK_OFTEN(block != NULL))
        event_alloc(block, count * size, KIND_CALLOC, HOOK_FRAME);
    return block;
}

HOOK_TOLD void free_told(void *block)
{
    hook_release_by(event_free_plain, block, HOW_FREE, HOOK_FRAME);
}

HOOK_TOLD void free_otherwise(void *block)
{
    hook_release_by(event_free_otherwise, block, HOW_FREE, HOOK_FRAME);
}

HOOK void free(void *block)
{
    const struct filter *table = sampling_look();
    if (HOOK_OFTEN(table != NULL)) {
        if (hook_passes_over(table, block))
            real.free(block);
        else
            free_otherwise(block);
        return;
    }
    uint32_t mode = share_mode();
    if (HOOK_OFTEN(mode == SEGMENT_ON))
        free_told(block);
    else if ((mode & SEGMENT_STATE_MASK) == SEGMENT_OFF && !share_passes(block) && !early_owns(block))
        real.free(block);
    else
        free_otherwise(block);
}

/* Names for free that not every allocator has. If free itself is not ours, the
 * block is not our allocator's either. */
static inline void hook_free_alias(void *block, enum record_how how, const void *frame)
{
    if (HOOK_RARE(real.malloc == NULL))
        (void)life_begin();
    if (HOOK_RARE(real.program_free != NULL && !real.is_first))
        real.program_free(block);
    else
        hook_release(block, how, frame);
}

HOOK void cfree(void *block)
{
    hook_free_alias(block, HOW_FREE, HOOK_FRAME);
}

HOOK void free_sized(void *block, size_t size)
{
    (void)size;
    hook_free_alias(block, HOW_FREE_SIZED, HOOK_FRAME);
}

HOOK void free_aligned_sized(void *block, size_t alignment, size_t size)
{
    (void)alignment;
    (void)size;
    hook_free_alias(block, HOW_FREE_SIZED, HOOK_FRAME);
}

/* Out of the early pool, into the real allocator (or, still before birth, back into the pool). */
static void *hook_realloc_early(void *old, size_t size, const void *frame)
{
    size_t kept = early_size(old) < size ? early_size(old) : size;
    bool is_born = real.malloc != NULL || life_begin();
    void *block = is_born ? real.malloc(size) : early_alloc(size, 16);
    if (block == NULL)
        return NULL;
    memory_copy(block, old, kept);
    if (is_born) {
        bool is_told = event_free(old, HOW_REALLOC, frame);
        event_realloc(block, size, old, is_told, frame);
    }
    early_free(old);
    return block;
}

static inline void *hook_realloc(void *old, size_t size, const void *frame)
{
    if (HOOK_RARE(early_owns(old)))
        return hook_realloc_early(old, size, frame);
    if (HOOK_RARE(real.realloc == NULL) && !life_begin())
        return early_alloc(size, 16);
    if (old == NULL) {
        void *block = real.realloc(NULL, size);
        if (HOOK_OFTEN(block != NULL))
            event_alloc(block, size, KIND_MALLOC, frame);
        return block;
    }
    bool is_told = event_free(old, HOW_REALLOC, frame);
    void *block = real.realloc(old, size);
    if (HOOK_OFTEN(block != NULL))
        event_realloc(block, size, old, is_told, frame);
    else if (is_told && size == 0)
        event_realloc_freed(old, frame);
    else if (is_told)
        event_realloc_failed(old, frame);
    return block;
}

HOOK void *realloc(void *old, size_t size)
{
    return hook_realloc(old, size, HOOK_FRAME);
}

/* libc's calls the program's realloc, which may not be ours. */
HOOK void *reallocarray(void *old, size_t count, size_t size)
{
    size_t total;
    if (HOOK_RARE(real.malloc == NULL))
        (void)life_begin();
    if (HOOK_RARE(real.reallocarray != NULL && !real.is_first))
        return real.reallocarray(old, count, size);
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return hook_realloc(old, total, HOOK_FRAME);
}

HOOK void *memalign(size_t alignment, size_t size)
{
    if (HOOK_RARE(real.memalign == NULL) && !life_begin())
        return early_alloc(size, alignment);
    void *block = real.memalign(alignment, size);
    if (HOOK_OFTEN(block != NULL))
        event_alloc(block, size, KIND_MEMALIGN, HOOK_FRAME);
    return block;
}

HOOK void *aligned_alloc(size_t alignment, size_t size)
{
    if (HOOK_RARE(real.aligned_alloc == NULL) && !life_begin())
        return early_alloc(size, alignment);
    void *block = real.aligned_alloc(alignment, size);
    if (HOOK_OFTEN(block != NULL))
        event_alloc(block, size, KIND_ALIGNED_ALLOC, HOOK_FRAME);
    return block;
}

HOOK int posix_memalign(void **block, size_t alignment, size_t size)
{
    if (HOOK_RARE(real.posix_memalign == NULL) && !life_begin()) {
        *block = early_alloc(size, alignment);
        return *block == NULL ? ENOMEM : 0;
    }
    int result = real.posix_memalign(block, alignment, size);
    if (HOOK_OFTEN(result == 0 && *block != NULL))
        event_alloc(*block, size, KIND_POSIX_MEMALIGN, HOOK_FRAME);
    return result;
}

HOOK void *valloc(size_t size)
{
    if (HOOK_RARE(real.valloc == NULL) && !life_begin())
        return early_alloc(size, 4096);
    void *block = real.valloc(size);
    if (HOOK_OFTEN(block != NULL))
        event_alloc(block, size, KIND_VALLOC, HOOK_FRAME);
    return block;
}

HOOK void *pvalloc(size_t size)
{
    if (HOOK_RARE(real.pvalloc == NULL) && !life_begin())
        return early_alloc(size, 4096);
    void *block = real.pvalloc(size);
    if (HOOK_OFTEN(block != NULL))
        event_alloc(block, size, KIND_PVALLOC, HOOK_FRAME);
    return block;
}

HOOK size_t malloc_usable_size(void *block)
{
    if (HOOK_RARE(early_owns(block)))
        return early_size(block);
    if (HOOK_RARE(real.malloc_usable_size == NULL) && !life_begin())
        return 0;
    return real.malloc_usable_size(block);
}

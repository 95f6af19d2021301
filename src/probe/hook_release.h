/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hook_release: what free and all forms of delete do. Told before the real free;
 * a block of the early pool never reaches it.
 */
#ifndef HW_PROBE_HOOK_RELEASE_H
#define HW_PROBE_HOOK_RELEASE_H

#include "probe/early.h"
#include "probe/event.h"
#include "probe/hook.h"
#include "probe/life.h"
#include "probe/real.h"
#include "probe/sampling.h"

/* While sampling: a block that is no sample and goes to the real free as it is. */
static inline bool hook_passes_over(const struct filter *table, const void *block)
{
    return !filter_is_used(table, (uint64_t)(uintptr_t)block);
}

typedef bool hook_tell(const void *block, enum record_how how, const void *frame);

static inline __attribute__((always_inline)) void hook_release_by(hook_tell *tell, void *block,
                                                                  enum record_how how, const void *frame)
{
    if (HOOK_RARE(early_owns(block))) {
        if (real.malloc != NULL)
            tell(block, how, frame);
        early_free(block);
        return;
    }
    if (HOOK_RARE(real.free == NULL) && !life_begin())
        return; /* nobody can have got it from an allocator that is not known yet */
    if (HOOK_OFTEN(block != NULL))
        tell(block, how, frame);
    real.free(block);
}

static inline void hook_release(void *block, enum record_how how, const void *frame)
{
    hook_release_by(event_free, block, how, frame);
}

#endif

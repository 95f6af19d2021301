/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * labels: see labels.h.
 */
#include "present/labels.h"

#include "store/reader.h"
#include "wire/record.h"

static const char *const labels_kinds[KIND_COUNT] = {
    [KIND_MALLOC] = "malloc",
    [KIND_CALLOC] = "calloc",
    [KIND_REALLOC] = "realloc",
    [KIND_MEMALIGN] = "memalign",
    [KIND_ALIGNED_ALLOC] = "aligned_alloc",
    [KIND_POSIX_MEMALIGN] = "posix_memalign",
    [KIND_VALLOC] = "valloc",
    [KIND_PVALLOC] = "pvalloc",
    [KIND_NEW] = "new",
    [KIND_NEW_ARRAY] = "new[]",
    [KIND_NEW_ALIGNED] = "new-aligned",
    [KIND_NEW_ARRAY_ALIGNED] = "new[]-aligned",
};

static const char *const labels_hows[HOW_COUNT] = {
    [HOW_FREE] = "free",
    [HOW_REALLOC] = "realloc",
    [HOW_DELETE] = "delete",
    [HOW_DELETE_ARRAY] = "delete[]",
    [HOW_FREE_SIZED] = "free_sized",
    [HOW_IGNORE] = "ignore",
};

static const char *const labels_losses[LOST_COUNT] = {
    [LOST_NESTED] = "nested",
    [LOST_COLLECTOR] = "collector",
    [LOST_MEMORY] = "memory",
    [LOST_SANDBOX] = "sandbox",
};

static const char *const labels_cuts[CUT_COUNT] = {
    [CUT_NOT] = "",
    [CUT_NO_CFI] = "code without unwind data",
    [CUT_UNREADABLE] = "the next frame cannot be read",
    [CUT_BAD_CFI] = "bad unwind data",
    [CUT_DEPTH] = "deeper than the walker goes",
    [CUT_EARLY] = "made before the probe could walk",
};

static const char *labels_pick(const char *const *list, unsigned count, unsigned i)
{
    return i < count && list[i] != 0 ? list[i] : "-";
}

const char *labels_event(unsigned event)
{
    switch (event) {
    case WAKE_ALLOC:
        return "alloc";
    case WAKE_FREE:
    case WAKE_FREE_UNKNOWN:
        return "free";
    case WAKE_MAP:
        return "mmap";
    case WAKE_UNMAP:
        return "munmap";
    case WAKE_BRK:
        return "brk";
    case WAKE_MARK:
        return "tag";
    case WAKE_LOST:
        return "lost";
    case WAKE_POOL_ALLOC:
        return "pool_alloc";
    case WAKE_POOL_FREE:
        return "pool_free";
    default:
        return "other";
    }
}

const char *labels_detail(unsigned event, unsigned detail)
{
    switch (event) {
    case WAKE_ALLOC:
        return labels_pick(labels_kinds, KIND_COUNT, detail);
    case WAKE_FREE:
    case WAKE_FREE_UNKNOWN:
        return labels_pick(labels_hows, HOW_COUNT, detail);
    case WAKE_LOST:
        return labels_pick(labels_losses, LOST_COUNT, detail);
    default:
        return "-";
    }
}

const char *labels_kind(unsigned kind)
{
    return labels_pick(labels_kinds, KIND_COUNT, kind);
}

const char *labels_cut(unsigned cut)
{
    return labels_pick(labels_cuts, CUT_COUNT, cut);
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hook_new: operator new and delete, all forms.
 *
 * A standard new is the real malloc; only when that fails does the real
 * operator run, which calls the new handler and throws. The size recorded is
 * the one asked for.
 *
 * One line a form, in the tables below: name as the linker knows it.
 */
#include "probe/cxx.h"
#include "probe/early.h"
#include "probe/event.h"
#include "probe/hook.h"
#include "probe/hook_release.h"
#include "probe/life.h"
#include "probe/real.h"
#include "probe/sampling.h"

#include <stdbool.h>

/* malloc as the standard operators call it; an alignment above 16 as they ask for it. */
static inline void *new_block(size_t size, size_t alignment, enum record_kind kind, const void *frame)
{
    if (HOOK_RARE(real.malloc == NULL) && !life_begin())
        return early_alloc(size, alignment);
    size_t asked = size == 0 ? 1 : size;
    void *block;
    if (alignment == 0) {
        block = real.malloc(asked);
    } else {
        if (asked + alignment < asked || (alignment & (alignment - 1)) != 0)
            return NULL;
        block = real.aligned_alloc(alignment, (asked + alignment - 1) & ~(alignment - 1));
    }
    if (HOOK_OFTEN(block != NULL))
        event_alloc(block, size, kind, frame);
    return block;
}

/* Is this a block that no sample lies in? Then its bytes have gone by. Calls nothing, or the fronts would need a frame. */
static inline bool new_is_passed_over(size_t size, size_t alignment)
{
    intptr_t place = sampling_find();
    return HOOK_RARE(place != 0) && alignment == 0 && cxx_kind == CXX_STANDARD &&
           sampling_passes_at_once(place, size);
}

/* PARAMETERS and PASSED: what the form takes besides the size or the block. The forms are fronts, as malloc is. */
#define NEW(name, kind, alignment, PARAMETERS, PASSED)                      \
    HOOK_TOLD void *name##_told PARAMETERS                                  \
    {                                                                       \
        if (HOOK_OFTEN(cxx_is_standard())) {                                \
            void *block = new_block(size, alignment, kind, HOOK_FRAME);     \
            if (HOOK_OFTEN(block != NULL))                                  \
                return block;                                               \
        }                                                                   \
        void *(*next)PARAMETERS;                                            \
        *(void **)&next = cxx_operator(#name, __builtin_return_address(0)); \
        return next != NULL ? next PASSED : NULL;                           \
    }                                                                       \
    HOOK_TOLD void *name##_passed PARAMETERS                                \
    {                                                                       \
        void *block = real.malloc(size == 0 ? 1 : size);                    \
        return HOOK_OFTEN(block != NULL) ? block : name##_told PASSED;      \
    }                                                                       \
    HOOK void *name PARAMETERS;                                             \
    HOOK void *name PARAMETERS                                              \
    {                                                                       \
        if (new_is_passed_over(size, alignment))                            \
            return name##_passed PASSED;                                    \
        return name##_told PASSED;                                          \
    }

#define DELETE(name, how, PARAMETERS, PASSED)                                                       \
    HOOK_TOLD void name##_told PARAMETERS                                                           \
    {                                                                                               \
        if (HOOK_OFTEN(cxx_is_standard())) {                                                        \
            hook_release(block, how, HOOK_FRAME);                                                   \
            return;                                                                                 \
        }                                                                                           \
        void(*next) PARAMETERS;                                                                     \
        *(void **)&next = cxx_operator(#name, __builtin_return_address(0));                         \
        if (next != NULL)                                                                           \
            next PASSED;                                                                            \
    }                                                                                               \
    HOOK void name PARAMETERS;                                                                      \
    HOOK void name PARAMETERS                                                                       \
    {                                                                                               \
        const struct filter *table = sampling_look();                                               \
        if (HOOK_RARE(table != NULL) && cxx_kind == CXX_STANDARD && hook_passes_over(table, block)) \
            real.free(block);                                                                       \
        else                                                                                        \
            name##_told PASSED;                                                                     \
    }

#define S size_t size
#define A size_t align
#define N const void *nothrow
#define B void *block

/* clang-format off */
NEW(_Znwm,                               KIND_NEW,               0,     (S),       (size))
NEW(_Znam,                               KIND_NEW_ARRAY,         0,     (S),       (size))
NEW(_ZnwmRKSt9nothrow_t,                 KIND_NEW,               0,     (S, N),    (size, nothrow))
NEW(_ZnamRKSt9nothrow_t,                 KIND_NEW_ARRAY,         0,     (S, N),    (size, nothrow))
NEW(_ZnwmSt11align_val_t,                KIND_NEW_ALIGNED,       align, (S, A),    (size, align))
NEW(_ZnamSt11align_val_t,                KIND_NEW_ARRAY_ALIGNED, align, (S, A),    (size, align))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t,  KIND_NEW_ALIGNED,       align, (S, A, N), (size, align, nothrow))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t,  KIND_NEW_ARRAY_ALIGNED, align, (S, A, N), (size, align, nothrow))

DELETE(_ZdlPv,                              HOW_DELETE,       (B),       (block))
DELETE(_ZdaPv,                              HOW_DELETE_ARRAY, (B),       (block))
DELETE(_ZdlPvm,                             HOW_DELETE,       (B, S),    (block, size))
DELETE(_ZdaPvm,                             HOW_DELETE_ARRAY, (B, S),    (block, size))
DELETE(_ZdlPvRKSt9nothrow_t,                HOW_DELETE,       (B, N),    (block, nothrow))
DELETE(_ZdaPvRKSt9nothrow_t,                HOW_DELETE_ARRAY, (B, N),    (block, nothrow))
DELETE(_ZdlPvSt11align_val_t,               HOW_DELETE,       (B, A),    (block, align))
DELETE(_ZdaPvSt11align_val_t,               HOW_DELETE_ARRAY, (B, A),    (block, align))
DELETE(_ZdlPvmSt11align_val_t,              HOW_DELETE,       (B, S, A), (block, size, align))
DELETE(_ZdaPvmSt11align_val_t,              HOW_DELETE_ARRAY, (B, S, A), (block, size, align))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, HOW_DELETE,       (B, A, N), (block, align, nothrow))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, HOW_DELETE_ARRAY, (B, A, N), (block, align, nothrow))
/* clang-format on */

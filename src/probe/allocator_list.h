/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * allocator_list: the functions of hook_allocator.c. One line a function: what it does, its name, how that is recorded,
 * the size that was asked for, and its arguments.
 *
 *     MAKE    gives out a block               USABLE  says what it holds
 *     FILL    puts it at *block               HEAP    gives out a heap, whose blocks pass no hook
 *     FREE    takes it back                   HAND    is written there
 *     CHANGE  is a realloc; what is recorded: whether it frees the old block when it fails
 */
#ifndef HW_PROBE_ALLOCATOR_LIST_H
#define HW_PROBE_ALLOCATOR_LIST_H

#define S size_t size
#define N size_t count
#define A size_t align
#define O size_t offset
#define F int flags
#define B void *block
#define T const void *nothrow
#define TEXT const char *text

#define LENGTH (memory_string_length(block) + 1)
#define PRODUCT hook_product(count, size)

/* clang-format off */
#define JEMALLOC(X)                                                                                      \
    X(MAKE,   mallocx,                       KIND_MALLOC,            size,    (S, F),       (size, flags))         \
    X(CHANGE, rallocx,                       false,                  size,    (B, S, F),    (block, size, flags))  \
    X(HAND,   xallocx,                       0,                      0,       (),           ())                    \
    X(FREE,   dallocx,                       HOW_FREE,               0,       (B, F),       (block, flags))        \
    X(FREE,   sdallocx,                      HOW_FREE_SIZED,         size,    (B, S, F),    (block, size, flags))  \
    X(USABLE, sallocx,                       0,                      0,       (B, F),       (block, flags))        \
    X(HAND,   mallctl,                       0,                      0,       (),           ())                    \
    X(HAND,   mallctlnametomib,              0,                      0,       (),           ())

#define TCMALLOC(X)                                                                                      \
    X(MAKE,   tc_malloc,                     KIND_MALLOC,            size,    (S),          (size))                \
    X(MAKE,   tc_malloc_skip_new_handler,    KIND_MALLOC,            size,    (S),          (size))                \
    X(MAKE,   tc_calloc,                     KIND_CALLOC,            PRODUCT, (N, S),       (count, size))         \
    X(CHANGE, tc_realloc,                    false,                  size,    (B, S),       (block, size))         \
    X(MAKE,   tc_memalign,                   KIND_MEMALIGN,          size,    (A, S),       (align, size))         \
    X(FILL,   tc_posix_memalign,             KIND_POSIX_MEMALIGN,    size,    (void **block, A, S), (block, align, size)) \
    X(MAKE,   tc_valloc,                     KIND_VALLOC,            size,    (S),          (size))                \
    X(MAKE,   tc_pvalloc,                    KIND_PVALLOC,           size,    (S),          (size))                \
    X(MAKE,   tc_new,                        KIND_NEW,               size,    (S),          (size))                \
    X(MAKE,   tc_new_nothrow,                KIND_NEW,               size,    (S, T),       (size, nothrow))       \
    X(MAKE,   tc_newarray,                   KIND_NEW_ARRAY,         size,    (S),          (size))                \
    X(MAKE,   tc_newarray_nothrow,           KIND_NEW_ARRAY,         size,    (S, T),       (size, nothrow))       \
    X(MAKE,   tc_new_aligned,                KIND_NEW_ALIGNED,       size,    (S, A),       (size, align))         \
    X(MAKE,   tc_new_aligned_nothrow,        KIND_NEW_ALIGNED,       size,    (S, A, T),    (size, align, nothrow)) \
    X(MAKE,   tc_newarray_aligned,           KIND_NEW_ARRAY_ALIGNED, size,    (S, A),       (size, align))         \
    X(MAKE,   tc_newarray_aligned_nothrow,   KIND_NEW_ARRAY_ALIGNED, size,    (S, A, T),    (size, align, nothrow)) \
    X(FREE,   tc_free,                       HOW_FREE,               0,       (B),          (block))               \
    X(FREE,   tc_cfree,                      HOW_FREE,               0,       (B),          (block))               \
    X(FREE,   tc_free_sized,                 HOW_FREE_SIZED,         size,    (B, S),       (block, size))         \
    X(FREE,   tc_delete,                     HOW_DELETE,             0,       (B),          (block))               \
    X(FREE,   tc_delete_sized,               HOW_DELETE,             size,    (B, S),       (block, size))         \
    X(FREE,   tc_delete_nothrow,             HOW_DELETE,             0,       (B, T),       (block, nothrow))      \
    X(FREE,   tc_delete_aligned,             HOW_DELETE,             0,       (B, A),       (block, align))        \
    X(FREE,   tc_delete_sized_aligned,       HOW_DELETE,             size,    (B, S, A),    (block, size, align))  \
    X(FREE,   tc_delete_aligned_nothrow,     HOW_DELETE,             0,       (B, A, T),    (block, align, nothrow)) \
    X(FREE,   tc_deletearray,                HOW_DELETE_ARRAY,       0,       (B),          (block))               \
    X(FREE,   tc_deletearray_sized,          HOW_DELETE_ARRAY,       size,    (B, S),       (block, size))         \
    X(FREE,   tc_deletearray_nothrow,        HOW_DELETE_ARRAY,       0,       (B, T),       (block, nothrow))      \
    X(FREE,   tc_deletearray_aligned,        HOW_DELETE_ARRAY,       0,       (B, A),       (block, align))        \
    X(FREE,   tc_deletearray_sized_aligned,  HOW_DELETE_ARRAY,       size,    (B, S, A),    (block, size, align))  \
    X(FREE,   tc_deletearray_aligned_nothrow, HOW_DELETE_ARRAY,      0,       (B, A, T),    (block, align, nothrow)) \
    X(USABLE, tc_malloc_size,                0,                      0,       (B),          (block))

/* What mi_new gives out mi_free takes back: there is no mi_delete. mimalloc 3 has a strdup of its own, whose block comes
 * from no malloc; where the allocator has none, libc's is left as it is. */
#define MIMALLOC(X)                                                                                      \
    X(MAKE,   mi_malloc,                     KIND_MALLOC,            size,    (S),          (size))                \
    X(MAKE,   mi_malloc_small,               KIND_MALLOC,            size,    (S),          (size))                \
    X(MAKE,   mi_mallocn,                    KIND_MALLOC,            PRODUCT, (N, S),       (count, size))         \
    X(MAKE,   mi_zalloc,                     KIND_CALLOC,            size,    (S),          (size))                \
    X(MAKE,   mi_zalloc_small,               KIND_CALLOC,            size,    (S),          (size))                \
    X(MAKE,   mi_calloc,                     KIND_CALLOC,            PRODUCT, (N, S),       (count, size))         \
    X(MAKE,   mi_malloc_aligned,             KIND_MEMALIGN,          size,    (S, A),       (size, align))         \
    X(MAKE,   mi_malloc_aligned_at,          KIND_MEMALIGN,          size,    (S, A, O),    (size, align, offset)) \
    X(MAKE,   mi_zalloc_aligned,             KIND_MEMALIGN,          size,    (S, A),       (size, align))         \
    X(MAKE,   mi_zalloc_aligned_at,          KIND_MEMALIGN,          size,    (S, A, O),    (size, align, offset)) \
    X(MAKE,   mi_calloc_aligned,             KIND_MEMALIGN,          PRODUCT, (N, S, A),    (count, size, align))  \
    X(MAKE,   mi_calloc_aligned_at,          KIND_MEMALIGN,          PRODUCT, (N, S, A, O), (count, size, align, offset)) \
    X(MAKE,   mi_memalign,                   KIND_MEMALIGN,          size,    (A, S),       (align, size))         \
    X(MAKE,   mi_aligned_alloc,              KIND_ALIGNED_ALLOC,     size,    (A, S),       (align, size))         \
    X(FILL,   mi_posix_memalign,             KIND_POSIX_MEMALIGN,    size,    (void **block, A, S), (block, align, size)) \
    X(MAKE,   mi_valloc,                     KIND_VALLOC,            size,    (S),          (size))                \
    X(MAKE,   mi_pvalloc,                    KIND_PVALLOC,           size,    (S),          (size))                \
    X(MAKE,   mi_new,                        KIND_MALLOC,            size,    (S),          (size))                \
    X(MAKE,   mi_new_n,                      KIND_MALLOC,            PRODUCT, (N, S),       (count, size))         \
    X(MAKE,   mi_new_nothrow,                KIND_MALLOC,            size,    (S),          (size))                \
    X(MAKE,   mi_new_aligned,                KIND_MEMALIGN,          size,    (S, A),       (size, align))         \
    X(MAKE,   mi_new_aligned_nothrow,        KIND_MEMALIGN,          size,    (S, A),       (size, align))         \
    X(MAKE,   mi_strdup,                     KIND_MALLOC,            LENGTH,  (TEXT),       (text))                \
    X(MAKE,   mi_strndup,                    KIND_MALLOC,            LENGTH,  (TEXT, S),    (text, size))          \
    X(MAKE,   strdup,                        KIND_MALLOC,            LENGTH,  (TEXT),       (text))                \
    X(MAKE,   strndup,                       KIND_MALLOC,            LENGTH,  (TEXT, S),    (text, size))          \
    X(MAKE,   mi_mbsdup,                     KIND_MALLOC,            LENGTH,  (TEXT),       (text))                \
    X(MAKE,   mi_wcsdup,                     KIND_MALLOC,            hook_wide_length(block), (const void *text), (text)) \
    X(HAND,   mi_realpath,                   0,                      0,       (),           ())                    \
    X(FILL,   mi_dupenv_s,                   KIND_MALLOC,            memory_string_length(*block) + 1, (void **block, size_t *size, TEXT), (block, size, text)) \
    X(CHANGE, mi_realloc,                    false,                  size,    (B, S),       (block, size))         \
    X(CHANGE, mi_reallocf,                   true,                   size,    (B, S),       (block, size))         \
    X(CHANGE, mi_reallocn,                   false,                  PRODUCT, (B, N, S),    (block, count, size))  \
    X(CHANGE, mi_reallocarray,               false,                  PRODUCT, (B, N, S),    (block, count, size))  \
    X(CHANGE, mi_rezalloc,                   false,                  size,    (B, S),       (block, size))         \
    X(CHANGE, mi_recalloc,                   false,                  PRODUCT, (B, N, S),    (block, count, size))  \
    X(CHANGE, mi_realloc_aligned,            false,                  size,    (B, S, A),    (block, size, align))  \
    X(CHANGE, mi_realloc_aligned_at,         false,                  size,    (B, S, A, O), (block, size, align, offset)) \
    X(CHANGE, mi_rezalloc_aligned,           false,                  size,    (B, S, A),    (block, size, align))  \
    X(CHANGE, mi_rezalloc_aligned_at,        false,                  size,    (B, S, A, O), (block, size, align, offset)) \
    X(CHANGE, mi_recalloc_aligned,           false,                  PRODUCT, (B, N, S, A), (block, count, size, align)) \
    X(CHANGE, mi_recalloc_aligned_at,        false,                  PRODUCT, (B, N, S, A, O), (block, count, size, align, offset)) \
    X(CHANGE, mi_aligned_recalloc,           false,                  PRODUCT, (B, N, S, A), (block, count, size, align)) \
    X(CHANGE, mi_aligned_offset_recalloc,    false,                  PRODUCT, (B, N, S, A, O), (block, count, size, align, offset)) \
    X(CHANGE, mi_new_realloc,                false,                  size,    (B, S),       (block, size))         \
    X(CHANGE, mi_new_reallocn,               false,                  PRODUCT, (B, N, S),    (block, count, size))  \
    X(HAND,   mi_reallocarr,                 0,                      0,       (),           ())                    \
    X(HAND,   mi_expand,                     0,                      0,       (),           ())                    \
    X(FREE,   mi_free,                       HOW_FREE,               0,       (B),          (block))               \
    X(FREE,   mi_cfree,                      HOW_FREE,               0,       (B),          (block))               \
    X(FREE,   mi_free_size,                  HOW_FREE_SIZED,         size,    (B, S),       (block, size))         \
    X(FREE,   mi_free_aligned,               HOW_FREE,               0,       (B, A),       (block, align))        \
    X(FREE,   mi_free_size_aligned,          HOW_FREE_SIZED,         size,    (B, S, A),    (block, size, align))  \
    X(USABLE, mi_usable_size,                0,                      0,       (B),          (block))               \
    X(USABLE, mi_malloc_usable_size,         0,                      0,       (B),          (block))               \
    X(USABLE, mi_malloc_size,                0,                      0,       (B),          (block))               \
    X(HEAP,   mi_heap_new,                   0,                      0,       (void),       ())                    \
    X(HEAP,   mi_heap_new_in_arena,          0,                      0,       (int arena),  (arena))               \
    X(HEAP,   mi_heap_new_ex,                0,                      0,       (int tag, int may_destroy, int arena), (tag, may_destroy, arena)) \
    X(HEAP,   mi_heap_get_default,           0,                      0,       (void),       ())                    \
    X(HEAP,   mi_heap_get_backing,           0,                      0,       (void),       ())
/* clang-format on */

#define ALLOCATOR_LIST(X) JEMALLOC(X) TCMALLOC(X) MIMALLOC(X)

#endif

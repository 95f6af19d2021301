/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * memory: malloc and its kin, which remember having failed.
 *
 * Whoever asks handles NULL where it happens.  But an answer is made by many hands, and one
 * that lets a failure pass would make it wrong without a word.  So whoever gives an answer
 * away, on standard output or as a file, asks memory_has_failed() before.  All code outside
 * the probe gets its memory here (scripts/check-includes); free() gives it back.
 *
 * Any thread may call any of these.
 */
#ifndef HW_TOOL_MEMORY_H
#define HW_TOOL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Blocks as of malloc, calloc, realloc; NULL: no memory. */
void *memory_new(size_t size);
void *memory_new_zeroed(size_t count, size_t size);
void *memory_resize(void *block, size_t size);
/* alignment: a power of two that divides size. */
void *memory_new_aligned(size_t alignment, size_t size);
/* For what is read here and there: in large pages, if it is large and the system has them. */
void *memory_new_large(size_t size);
/* The same for what can be done without: nobody is told that there was no memory for it. */
void *memory_try_large(size_t size);
/* Copies with a NUL at their end; of `length` bytes at most.  NULL: no memory. */
char *memory_copy_text(const char *text);
char *memory_copy_part(const char *text, size_t length);

/* Whether any of these has failed in this process so far. */
bool memory_has_failed(void);

#endif

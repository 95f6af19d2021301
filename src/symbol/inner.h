/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * inner: allocators that programs have inside under names of their own, as Rust's crates for jemalloc and mimalloc
 * do.  Calls of them pass no hook, so that a recording has nothing of what they hand out; somebody has to say so.
 */
#ifndef HW_SYMBOL_INNER_H
#define HW_SYMBOL_INNER_H

#include <stddef.h>

/* Of a program of Go, which has an allocator of the language. */
extern const char inner_go[];

/* What a program or library has inside: "jemalloc", or inner_go; NULL: nothing that is known, or its malloc is one that others see, or
 * it is no ELF file.  path is how the file behind fd is called; the descriptor stays the caller's. */
const char *inner_find(int fd, const char *path);
/* What that may be, from 0; NULL: that was the last. */
const char *inner_name(size_t i);

#endif

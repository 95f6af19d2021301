/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * bundled_allocators: tells of programs that have an allocator of their own inside: their
 * calls of it pass no hook, so that blocks are missing, and nothing else would
 * say so.
 */
#ifndef HW_SYMBOL_BUNDLED_ALLOCATORS_H
#define HW_SYMBOL_BUNDLED_ALLOCATORS_H

#include "store/annex.h"
#include "store/reader.h"
#include "tool/level.h"

/* Looks at the files of all programs and modules of the recording, below sysroot (NULL: as they were recorded), and
 * says and notes what is not among the notes that it has. */
void bundled_allocators_note(struct wake_annex *a, const struct wake_reader *r, const char *sysroot,
                             level_say_fn *say, void *say_of);
/* Is this note of the recording the one that is made of a file of its and a name of an allocator?  The recorder has said
 * it then. */
bool bundled_allocators_is_note(const struct wake_reader *r, const char *note);

#endif

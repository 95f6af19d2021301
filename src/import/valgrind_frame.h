/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * valgrind_frame: a frame as Valgrind's tools write it.
 *
 *     0x1093B9: leak_small (blame.c:64)
 *     0x48417B4: operator new(unsigned long) (in /usr/libexec/valgrind/vgpreload_dhat-amd64-linux.so)
 *     0x4C2B: ??? (in /usr/bin/app)
 *     0x1093B9: main
 */
#ifndef HW_IMPORT_VALGRIND_FRAME_H
#define HW_IMPORT_VALGRIND_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#include "import/recast.h"

/* Never fails: text that looks like nothing of this is the name of a function. */
struct wake_frame valgrind_frame(struct recast *r, const char *text, size_t length);

#endif

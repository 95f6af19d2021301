/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * binary_make: how a symbolizer makes and ends binaries; for src/symbol alone.
 */
#ifndef HW_SYMBOL_BINARY_MAKE_H
#define HW_SYMBOL_BINARY_MAKE_H

#include "symbol/binary.h"
#include "symbol/elffile.h"
#include "symbol/locate.h"

/* Takes the file, also when it fails.  path is how the recording calls it.  NULL: no memory. */
struct binary *binary_new(struct elffile *file, const char *path, struct locate *l);
void binary_free(struct binary *b);

#endif

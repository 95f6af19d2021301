/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * vdso: the library that the kernel itself puts into every process.  No file
 * holds it; our own copy is the right one when its build id is the recorded one.
 */
#ifndef HW_SYMBOL_VDSO_H
#define HW_SYMBOL_VDSO_H

#include "symbol/elffile.h"
#include "tool/err.h"

#include <stdbool.h>

bool vdso_is_named(const char *path);
/* Our own, when it has this id (of length 0: any).  ERR_ABSENT. */
int vdso_open(struct elffile *out, const struct build_id *id, struct err *err);

#endif

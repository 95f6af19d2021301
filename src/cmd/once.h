/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * once: options that take one value.  Two that differ cannot both hold, and nobody shall wonder which of
 * them does: given again they are refused.
 */
#ifndef HW_CMD_ONCE_H
#define HW_CMD_ONCE_H

#include "tool/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { ONCE_MOST = 32 }; /* options of that kind that a command has, at most */

/* All zero: none was given. */
struct once {
    const char *given[ONCE_MOST];
    size_t count;
};

/* The option was given.  ERR_USAGE: not for the first time. */
int once_note(struct once *o, const char *name, struct err *err);
/* command_option for one that has a value and may be given once.  other: another name for the same, or NULL.
 * True: it is this one; err->code is set when it was given before. */
bool once_take(struct once *o, char **argv, int *at, const char *name, const char *other, const char **value,
               struct err *err);

#endif

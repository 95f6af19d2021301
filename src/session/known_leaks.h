/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * known_leaks: the suppressions that a command was given.
 */
#ifndef HW_SESSION_KNOWN_LEAKS_H
#define HW_SESSION_KNOWN_LEAKS_H

#include "analysis/suppress.h"
#include "tool/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Adds the rules of these files and, if wanted, the built-in ones.  Negative: the sentence is in err. */
int known_leaks_read(struct suppress *s, const char *const *paths, size_t count, bool built_in,
                     struct err *err);

#endif

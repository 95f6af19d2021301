/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * expression: regular expressions (POSIX, extended) that people give, and what
 * is wrong with one.
 */
#ifndef HW_ENGINE_EXPRESSION_H
#define HW_ENGINE_EXPRESSION_H

#include "tool/err.h"

#include <regex.h>

/* To be freed with regfree() if this gives 0; ERR_USAGE, ERR_MEMORY. */
int expression_compile(regex_t *to, const char *text, struct err *err);

#endif

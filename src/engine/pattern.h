/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pattern: regular expressions over the frames of stacks.
 */
#ifndef HW_ENGINE_PATTERN_H
#define HW_ENGINE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "engine/query.h"
#include "store/reader.h"
#include "tool/err.h"

/* Whether a text is an expression that can be used.  ERR_USAGE. */
int pattern_check(const char *text, struct err *err);

/* Sets allowed[stack] to 0 where one of these patterns does not hold. */
int pattern_narrow(const struct query *q, const struct query_pattern *patterns, size_t patterns_count,
                   const struct wake_process *p, uint32_t process, uint8_t *allowed, size_t count,
                   struct err *err);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * near: which word somebody may have meant.
 */
#ifndef HW_QUERY_NEAR_H
#define HW_QUERY_NEAR_H

#include <stdbool.h>

/* Whether `word` begins like what was asked for, or differs from it in two letters at most. */
bool near_is(const char *asked, const char *word);

#endif

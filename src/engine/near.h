/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * near: which word somebody may have meant.
 */
#ifndef HW_ENGINE_NEAR_H
#define HW_ENGINE_NEAR_H

#include <stdbool.h>

/* Whether `word` begins like what was asked for, or differs from it in two letters at most. */
bool near_is(const char *asked, const char *word);
/* The same with a measure, to choose by: 0 = it begins like it, else how many letters differ.  Of three letters one
 * may differ, of one none.  Negative: it is not near. */
int near_find(const char *asked, const char *word);

#endif

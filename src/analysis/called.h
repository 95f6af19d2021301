/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * called: functions by the names that people say.
 */
#ifndef HW_ANALYSIS_CALLED_H
#define HW_ANALYSIS_CALLED_H

#include <stdbool.h>

#include "engine/frame.h"

/* Whether a person who says `wanted` means this function: the whole signature,
 * the qualified name, its last parts, or the place of one without a name.  Names may
 * lack what is between < and > and what says nothing, as on pages. */
bool called_matches(const struct frame *f, const char *wanted);

#endif

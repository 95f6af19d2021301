/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * wrapping: what is said of --wrapper: a name that nobody has changes nothing, and is
 * more likely misspelt than meant.
 */
#ifndef HW_CMD_WRAPPING_H
#define HW_CMD_WRAPPING_H

#include "query/trace.h"

/* Says on standard error which wrappers are in none of the stacks: to be called when all
 * that are shown have been asked for. */
void wrapping_warn(const struct traces *traces);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * wrapper_check: what is said of --wrapper: a name that nobody has changes nothing, and is
 * more likely misspelt than meant.
 */
#ifndef HW_CMD_WRAPPER_CHECK_H
#define HW_CMD_WRAPPER_CHECK_H

#include "analysis/trace.h"

/* Says on standard error which wrappers are in none of the stacks: to be called when all
 * that are shown have been asked for. */
void wrapper_check_warn(const struct traces *traces);

#endif

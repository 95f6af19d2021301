/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * newest: the recording that was made last in the current folder.
 */
#ifndef HW_CMD_NEWEST_H
#define HW_CMD_NEWEST_H

#include "tool/strbuf.h"

#include <stdbool.h>

/* Adds its name, by which files end in .wake.  False: there is none. */
bool newest_find(struct strbuf *name);

#endif

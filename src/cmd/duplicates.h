/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * duplicates: a file that stands twice on a command line, under one name or two: a pattern
 * and a name, a link.  Nobody means to count it twice.
 */
#ifndef HW_CMD_DUPLICATES_H
#define HW_CMD_DUPLICATES_H

#include <stddef.h>

/* Takes out what is the same file as one before it, and says so on standard error.  How
 * many are left; those keep their order.  Files that are not there are left to who opens them. */
size_t duplicates_drop(const char **files, size_t count);

#endif

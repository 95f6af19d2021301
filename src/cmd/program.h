/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * program: a program that stands where a recording is expected.
 */
#ifndef HW_CMD_PROGRAM_H
#define HW_CMD_PROGRAM_H

#include <stdbool.h>

/* Is there a file of this name that can be run, an ELF file or a script? */
bool program_is_one(const char *path);
/* What stands before the name of such a file in a command line: "" or "./". */
const char *program_prefix(const char *path);

#endif

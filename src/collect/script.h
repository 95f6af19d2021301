/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * script: what runs when a script is executed.  The system starts the program in its first
 * line (#!), and that one's again if it is a script too.
 */
#ifndef HW_COLLECT_SCRIPT_H
#define HW_COLLECT_SCRIPT_H

#include "tool/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCRIPT_DEPTH = 4 }; /* scripts for scripts: the kernel's limit */

/* The interpreter of a script that begins with these bytes replaces *path; false: it is no script. */
bool script_follow(const uint8_t *bytes, size_t length, struct strbuf *path);

/* The program that runs the script of this name becomes *program; false: it is no script, or cannot be read. */
bool script_find_program(const char *name, struct strbuf *program);

#endif

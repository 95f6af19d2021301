/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * check_run: records a program for `heapwake check`.
 */
#ifndef HW_CMD_CHECK_RUN_H
#define HW_CMD_CHECK_RUN_H

#include "tool/err.h"

#include <stddef.h>

/* Runs `heapwake record` with this program into the file `output` and waits.  *status gets what waitpid tells of it, which is
 * the program's own.  Negative: nothing ran; the sentence is in err. */
int check_run(char *const *program, const char *output, int *status, struct err *err);
/* "exit code 3", "killed by SIGSEGV". */
const char *check_run_describe(int status, char *text, size_t size);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * keeping: what a recorder is told about long runs: how much is kept, and in
 * how many files.  Each setting is a variable and an option of `record`.
 */
#ifndef HW_CMD_KEEPING_H
#define HW_CMD_KEEPING_H

#include "collect/output.h"
#include "tool/err.h"

/* The value of a variable; NULL = not set. */
typedef const char *keeping_get_fn(void *of, const char *name);

/* The defaults, and what the variables say; one that makes no sense counts as not set
 * (settings_check complains about it). */
void keeping_read(struct output_keeping *k, keeping_get_fn *get, void *of);
/* Takes the option at argv[*at].  1: taken, 0: it is none of these, ERR_USAGE with a sentence. */
int keeping_take(struct output_keeping *k, char **argv, int *at, struct err *err);

/* For settings_check: does the value of that variable make sense? */
bool keeping_is_milliseconds(const char *text);
bool keeping_is_pending(const char *text);
bool keeping_is_size(const char *text);
bool keeping_is_sample(const char *text);
bool keeping_is_rotate(const char *text);

#endif

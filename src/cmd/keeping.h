/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * keeping: what a recorder is told about long runs: how much is kept, and in
 * how many files.  Each setting is a variable, which an option of `record` sets (settings.h).
 */
#ifndef HW_CMD_KEEPING_H
#define HW_CMD_KEEPING_H

#include "collect/output.h"

#include <stdbool.h>

/* The value of a variable; NULL = not set. */
typedef const char *keeping_get_fn(void *of, const char *name);

/* The defaults, and what the variables say; one that makes no sense counts as not set
 * (settings_check complains about it). */
void keeping_read(struct output_keeping *k, keeping_get_fn *get, void *of);

/* HEAPWAKE_MAP_USAGE: ns between samples of how memory is used; 0: none are wanted. */
uint64_t keeping_map_usage(keeping_get_fn *get, void *of);

/* For settings.c: does the value of that variable make sense? */
bool keeping_is_milliseconds(const char *text);
bool keeping_is_pending(const char *text);
bool keeping_is_size(const char *text);
bool keeping_is_sample(const char *text);
bool keeping_is_rotate(const char *text);
bool keeping_is_map_usage(const char *text);

#endif

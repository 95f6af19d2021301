/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * series: files that follow each other (store/rotate.c), read as the one
 * recording that they are.
 */
#ifndef HW_STORE_SERIES_H
#define HW_STORE_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "store/reader.h"
#include "tool/err.h"

/* Which series a file belongs to, and which part of it; 0 and 0: none, or no recording. */
void wake_series_find(const char *path, uint64_t *series, uint32_t *part);

/* Opens parts of one series, in their order.  One that is missing before the first costs
 * the events in it, one between them is a damage like any other. */
int wake_series_open(struct wake_reader **r, const char *const *paths, size_t count, struct err *err);

#endif

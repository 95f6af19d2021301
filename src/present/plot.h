/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * plot: a level over time, in text.
 *
 *      24.1 MiB |          ▄█
 *      12.1 MiB |         ███▁▁
 *             0 |▂▃▄▅▆▇████████
 *               +--------------
 *                0 s       1.2 s
 */
#ifndef HW_PRESENT_PLOT_H
#define HW_PRESENT_PLOT_H

#include "engine/result.h"
#include "present/page.h"

#include <stddef.h>
#include <stdint.h>

/* Plots the live bytes of ticks up to end_ns in so many rows; nothing when
 * there is nothing to see.  What happens between two ticks is drawn at the
 * highest. The caption stands below the axis; it may be empty. */
void plot_print(struct page *p, const struct query_tick *ticks, size_t count, uint64_t end_ns, size_t rows,
                const char *caption);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * perfetto: what the two halves of that exporter share: perfetto.c has processes,
 * perfetto_threads.c the heap of each thread.
 */
#ifndef HW_EXPORT_PERFETTO_H
#define HW_EXPORT_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>

#include "export/export.h"

enum { PERFETTO_TICKS = 2000 }; /* stretches of the window */

struct perfetto {
    const struct export_job *job;
    bool first; /* nothing is written yet */
};

void perfetto_put_counter(struct perfetto *p, uint32_t pid, const char *name, const char *unit, uint64_t ns,
                          uint64_t value);
/* The course of the heap of each thread of a process (its index); nothing for a
 * process with one thread or hundreds.  Errors as follow_run. */
int perfetto_put_threads(struct perfetto *p, uint32_t process, struct err *err);

#endif

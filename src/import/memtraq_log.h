/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * memtraq_log: what the two kinds of memtraq's logs share: text (from_memtraq.c)
 * and records (memtraq_records.c).
 */
#ifndef HW_IMPORT_MEMTRAQ_LOG_H
#define HW_IMPORT_MEMTRAQ_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/addressed.h"
#include "import/import.h"
#include "tool/map.h"
#include "tool/vec.h"

struct memtraq_log {
    struct import_job *job;
    struct addressed addressed;
    struct map threads; /* pthread_self() -> number of the thread */
    uint64_t first_us;
    bool has_first;
    VEC(struct wake_frame) frames; /* scratch: of a stack */
    bool failed;                   /* no memory */
};

/* An event at this time, of this thread. */
void memtraq_log_begin_event(struct memtraq_log *m, uint64_t us, uint64_t thread, const char *name,
                             size_t length);
/* stack: 0 where the log has none (MEMTRAQ_BACKTRACE_FREE). */
void memtraq_log_free(struct memtraq_log *m, uint64_t address, uint32_t stack);
/* A realloc that gave `address`; NULL and a size: it failed, and nothing happened. */
void memtraq_log_realloc(struct memtraq_log *m, uint64_t old, uint64_t size, uint64_t address,
                         uint32_t stack);

/* Does a log of records begin so? */
bool memtraq_records_is_one(const char *head, size_t length);
int memtraq_records_read(struct memtraq_log *m, struct err *err);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * follow: the blocks that match a query, event by event, for those who need
 * every one of them and not their sums.
 *
 *     begin(process)
 *     alloc(block, earlier)       for each block that is live when the window begins, by number
 *     alloc(block), release(block, end)...     in the order of the file
 *     left(block)                 for each block that is live when the window ends, by number
 *
 * and so for each chosen process.  So a release always follows the allocation
 * of its block, and what is added up from the calls is what query_run says:
 * allocations that are not earlier are `allocated`, releases are `freed`, the
 * level is what the peak is made of, what is left is `live` (at the
 * window's end); blocks that were culled are in none of it.
 *
 * Reads the events once, or twice where conditions are known only later
 * (query.h).  Memory goes by live blocks that match.
 */
#ifndef HW_ENGINE_FOLLOW_H
#define HW_ENGINE_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/query.h"
#include "store/reader.h"
#include "tool/err.h"

struct follow_block {
    uint64_t number; /* among the allocations of its process */
    uint64_t born_ns;
    uint64_t size, usable, address;
    uint64_t blocks, bytes; /* what it stands for: 1 and its size, or more in a sampled process */
    uint64_t previous;      /* made by realloc: number + 1 of the block before it; 0 = none that is known */
    uint32_t stack;         /* number in its process; 0 = none, or one that is not in the file */
    uint32_t thread;        /* number in its process */
    uint32_t tag;           /* the caller's own: set in alloc, there in release and left; 0 at first */
    uint8_t kind;           /* enum record_kind */
    bool is_leaked;         /* never freed, as the file has it */
};

struct follow_end {
    uint64_t time_ns;
    uint32_t thread;
    uint8_t how; /* enum record_how */
};

/* All but alloc and release may be NULL.  Anything but 0 ends it all and is
 * what follow_run gives. */
struct follow_calls {
    int (*begin)(void *context, uint32_t process);
    int (*alloc)(void *context, struct follow_block *block, bool is_earlier);
    int (*release)(void *context, const struct follow_block *block, const struct follow_end *end);
    int (*left)(void *context, const struct follow_block *block);
};

#define FOLLOW_ALL UINT32_MAX

/* process: an index in the recording, or FOLLOW_ALL; only those that the query
 * chose are followed.  columns (enum wake_column): members of struct
 * follow_block that are needed; the others mean nothing (bytes and blocks come with the size).  Errors as query_run.
 * An interrupt ends it with 0: no further calls. */
int follow_run(const struct query *q, struct wake_reader *reader, uint32_t process, unsigned columns,
               const struct follow_calls *calls, void *context, struct err *err);

#endif

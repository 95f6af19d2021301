/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ledger: every allocation and release of a process in 14 bytes and a bit, each with what is known of its block, its
 * other end included.  Whatever is asked about single blocks afterwards, no event has to be read and no block
 * followed (query/reckon.h).
 *
 *     rows      the stack, and whether this is the block's release
 *     sizes     those that do not fit are in a map
 *     mates     when the block is released, or, at its release, when it was made: a number in `times`
 *     classes   the rest: blocks that have it in common share a class
 *
 * Entries are in the order of events; those from firsts[i] to firsts[i + 1] are at times[i].
 *
 * Where somebody asks for them, it has addresses (query/abode.h) and realloc chains (query/lineage.h) too.
 *
 * Memory: 14 bytes and a bit an entry, 4 bytes more for addresses, what chains take, and 12 for each moment at which there are events.  One
 * reading makes it.
 */
#ifndef HW_QUERY_LEDGER_H
#define HW_QUERY_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/abode.h"
#include "query/cohort.h"
#include "query/filter.h"
#include "query/lineage.h"
#include "query/query.h"
#include "query/watch.h"
#include "store/reader.h"
#include "tool/err.h"
#include "tool/map.h"
#include "tool/vec.h"

/* What blocks have in common. */
struct ledger_class {
    uint32_t thread;
    uint32_t freer; /* thread; if it was freed */
    uint32_t slack;
    uint8_t kind;
    uint8_t mark;   /* the latest when it was made: a number in `marks` */
    uint8_t arena;  /* as events have it */
    bool is_leaked; /* as the file lists them */
    bool is_freed;  /* as the events have it */
    bool is_temporary;
};

/* What only some questions need. */
enum ledger_part { LEDGER_ADDRESSES = 1, LEDGER_CHAINS = 2 };

struct ledger {
    uint32_t *rows; /* a stack, + LEDGER_FALLS; the first of one piece of memory with the next three */
    uint32_t *mates;
    uint32_t *sizes; /* LEDGER_LARGE: see `large` */
    uint16_t *classes;
    uint8_t *falls; /* a bit an entry: LEDGER_FALLS once more */
    size_t count, capacity;
    struct map large;                    /* entry -> its size, from LEDGER_LARGE on */
    VEC(struct ledger_class) class_list; /* by their numbers */
    VEC(uint64_t) times;                 /* rising, behind that of LEDGER_NEVER */
    VEC(uint32_t) firsts;
    VEC(uint32_t) lasting;   /* births of blocks that are never released, or listed as leaked, in order */
    VEC(const char *) marks; /* names; the first is of those that no mark came before */
    struct abode abode;
    struct lineage lineage;
    unsigned has, lacks;        /* enum ledger_part: these it has; those it cannot have */
    bool knows_marks;           /* there are not too many */
    bool knows_usable;          /* usable sizes are sizes and slack */
    struct cohort *groups;      /* by stack */
    uint64_t smallest, largest; /* of the sizes */
    uint64_t seen_ns;           /* time of the last event */
};

#define LEDGER_FALLS (UINT32_C(1) << 31)
#define LEDGER_LARGE UINT32_MAX
/* The time of what has not happened, which is UINT64_MAX. */
#define LEDGER_NEVER 0

enum {
    LEDGER_ENTRY_BYTES = 14,
    LEDGER_ODD = 2, /* there is something in the events that a ledger cannot tell, or too much of it */
    /* Behind the last entry there are so many zeroes, for whoever looks at a fixed number together. */
    LEDGER_AT_ONCE = 4096,
};

/* 0 in any of them: the usual. */
struct ledger_limits {
    uint64_t bytes;      /* for entries */
    size_t part_count;   /* that are counted at once (query/crew.h), at most */
    size_t part_entries; /* in each, at least */
};

/* Enters all events.  parts: of enum ledger_part; bytes: of memory at most.  The filter is any of this process.
 * 0; WATCH_STOP: interrupted, it ends there; LEDGER_ODD, or an error: it is of no use.  Release whatever comes back. */
int ledger_make(struct ledger *l, unsigned parts, uint64_t bytes, const struct filter *f, struct watch *watch,
                struct wake_reader *reader, uint32_t process, struct err *err);
/* Accepts a zeroed one. */
void ledger_release(struct ledger *l);

/* For ledger_size. */
uint64_t ledger_large_size(const struct ledger *l, size_t entry);

static inline uint64_t ledger_size(const struct ledger *l, size_t entry)
{
    uint64_t size = l->sizes[entry];
    return __builtin_expect(size != LEDGER_LARGE, 1) ? size : ledger_large_size(l, entry);
}

#endif

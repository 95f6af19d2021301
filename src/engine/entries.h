/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * entries: every allocation and release of a process in 18 bytes and a bit, each with what is known of its block, its
 * other end included: the second layer of a ledger (engine/ledger.h).  Whatever is asked about single blocks afterwards, no
 * event has to be read and no block followed (engine/entry_scan.h).
 *
 *     rows      the stack, and whether this is the block's release
 *     sizes     those that do not fit are in a map
 *     mates     when the block is released, or, at its release, when it was made: a number in `times`
 *     classes   the rest: blocks that have it in common share a class
 *     codes     the address (engine/address_index.h)
 *
 * Entries are in the order of events; those from firsts[i] to firsts[i + 1] are at times[i].  Realloc chains stand beside
 * them (engine/chain_index.h).
 *
 * They grow while events are read.  What has been published can be used: windows that end before `until_ns`, where
 * nothing is asked about what becomes of blocks.  Once they are whole everything can be asked of them.  Where the memory
 * does not suffice for all events they end early, and stay like that.
 *
 * Memory: 18 bytes and a bit an entry, what chains take, and 12 for each moment at which there are events.
 */
#ifndef HW_ENGINE_ENTRIES_H
#define HW_ENGINE_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/address_index.h"
#include "engine/chain_index.h"
#include "engine/filter.h"
#include "engine/query.h"
#include "engine/stack_group.h"
#include "store/reader.h"
#include "tool/map.h"
#include "tool/vec.h"

/* What blocks have in common. */
struct entries_class {
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

struct entries {
    uint32_t *rows; /* a stack, + ENTRIES_FALLS; the first of one piece of memory with the next three */
    uint32_t *mates;
    uint32_t *sizes; /* ENTRIES_LARGE: see `large` */
    uint16_t *classes;
    uint8_t *falls; /* a bit an entry: ENTRIES_FALLS once more */
    size_t count, capacity;
    struct map large;                     /* entry -> its size, from ENTRIES_LARGE on */
    VEC(struct entries_class) class_list; /* by their numbers */
    VEC(uint64_t) times;                  /* rising, behind that of ENTRIES_NEVER */
    VEC(uint32_t) firsts;
    VEC(uint32_t) lasting;   /* births of blocks that are never released, or listed as leaked, in order */
    VEC(const char *) marks; /* names; the first is of those that no mark came before */
    struct address_index abode;
    struct chain_index lineage;
    bool knows_addresses;       /* there are not too many regions */
    bool knows_chains;          /* there are not too many links */
    bool knows_marks;           /* there are not too many */
    bool knows_usable;          /* usable sizes are sizes and slack */
    struct stack_group *groups; /* by stack */
    uint64_t smallest, largest; /* of the sizes */
    uint64_t seen_ns;           /* time of the last event */
    size_t published;           /* entries that can be used */
    uint64_t until_ns;          /* all events before this time are among them */
    bool is_whole;              /* and all others too */
};

#define ENTRIES_FALLS (UINT32_C(1) << 31)
#define ENTRIES_LARGE UINT32_MAX
/* The time of what has not happened, which is UINT64_MAX. */
#define ENTRIES_NEVER 0

enum {
    ENTRIES_ENTRY_BYTES = 18,
    /* Behind the last one that is published so many can be looked at: zeroes, or entries to be, for whoever looks at a fixed number together. */
    ENTRIES_AT_ONCE = 4096,
};

struct entries_builder;

/* Begins with no entries; for `bytes` of memory at most.  The filter is any of this process, and has to live as long as the
 * builder.  NULL: no memory, or there cannot be entries. */
struct entries_builder *entries_begin(struct entries *e, uint64_t bytes, const struct filter *f,
                                      const struct wake_reader *reader, uint32_t process);
/* Enters the events that follow.  False: there is no room for more, no memory, or something that entries cannot tell; in
 * the last two cases nothing is published any more. */
bool entries_take(struct entries_builder *m, const struct wake_block *b);
/* What has been entered can be used. */
void entries_publish(struct entries_builder *m);
/* There are no more events. */
void entries_finish(struct entries_builder *m);
/* Accepts NULL. */
void entries_builder_free(struct entries_builder *m);
/* Columns that a builder needs (enum wake_column). */
enum {
    ENTRIES_COLUMNS = WAKE_TIME | WAKE_SIZE | WAKE_USABLE | WAKE_STACK | WAKE_THREAD | WAKE_ARENA |
                      WAKE_ADDRESS | WAKE_PREVIOUS
};
/* Accepts a zeroed one. */
void entries_release(struct entries *l);

/* For entries_size. */
uint64_t entries_large_size(const struct entries *l, size_t entry);

static inline uint64_t entries_size(const struct entries *l, size_t entry)
{
    uint64_t size = l->sizes[entry];
    return __builtin_expect(size != ENTRIES_LARGE, 1) ? size : entries_large_size(l, entry);
}

#endif

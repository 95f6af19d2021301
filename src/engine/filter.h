/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * filter: the conditions of a query, for one process.
 *
 * Conditions come in three kinds, by when they can be decided:
 *
 *     at birth    size, stack, thread, kind, address, arena, time of birth, marks, number,
 *                 leaked or not (the file lists what was live at the end), the stack of
 *                 its release and the mapping it lies in (looked up beforehand:
 *                 engine/released_from.h, engine/in_mapping.h)
 *     at death    time of death, lifetime, freeing thread, temporary, alive at
 *                 a moment, and everything about chains
 *     by group    about all blocks of a stack
 *
 * Those at birth are looked at a batch of events at a time, where it is decoded, one short loop a
 * condition that is set, over what is left of the allocations.  If there are others, a first pass over the events
 * decides them (engine/fate_pass.h).
 */
#ifndef HW_ENGINE_FILTER_H
#define HW_ENGINE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/bitset.h"
#include "engine/query.h"
#include "engine/when.h"
#include "store/reader.h"
#include "tool/err.h"
#include "tool/map.h"
#include "tool/vec.h"

struct checkpoint;

/* What has to be looked at. */
enum filter_check {
    CHECK_BORN = 1 << 0,
    CHECK_OUTSIDE = 1 << 1,
    CHECK_SIZE = 1 << 2,
    CHECK_USABLE = 1 << 3,
    CHECK_SLACK = 1 << 4,
    CHECK_ADDRESS = 1 << 5,
    CHECK_STACK = 1 << 6,
    CHECK_THREAD = 1 << 7,
    CHECK_KIND = 1 << 8,
    CHECK_MARK = 1 << 9,
    CHECK_LEAKED = 1 << 10,
    /* at death */
    CHECK_FATE = 1 << 11,
    CHECK_TEMPORARY = 1 << 12,
    CHECK_FREER = 1 << 13,
    CHECK_CHAIN = 1 << 14,
    /* by group */
    CHECK_GROUP_COUNTS = 1 << 15,
    CHECK_GROUP_TIMES = 1 << 16,
    /* at birth, after a reading of its own */
    CHECK_RELEASE = 1 << 17,
    CHECK_MAPPED = 1 << 18,
    CHECK_INSIDE = 1 << 19,
    /* at birth */
    CHECK_ARENA = 1 << 20,
    CHECK_LISTED = 1 << 21,

    CHECK_AT_DEATH = CHECK_FATE | CHECK_TEMPORARY | CHECK_FREER | CHECK_CHAIN,
    CHECK_GROUPS = CHECK_GROUP_COUNTS | CHECK_GROUP_TIMES,
    CHECK_AT_BIRTH = ~(CHECK_AT_DEATH | CHECK_GROUPS),
};

struct filter {
    const struct query *query;
    const struct when *when;
    const struct wake_process *process;
    bool knows_order; /* its events tell what a thread has allocated next (store/reader.h) */
    unsigned checks;
    struct query_range born;
    uint8_t *stacks; /* by number: 1 = allowed; NULL unless CHECK_STACK or CHECK_GROUPS */
    size_t stack_count;
    VEC(uint64_t) leaked;              /* numbers of leaked blocks, rising, and UINT64_MAX behind them */
    uint64_t end_ns;                   /* until when leaked blocks live */
    struct query_range died, lifetime; /* of blocks that were freed; never empty, see none_freed */
    bool none_freed;                   /* no block that was freed passes */
    bool none_leaked;                  /* no block that was never freed passes */
    struct bitset released;            /* numbers of blocks that were released from a wanted stack */
    struct bitset inside;              /* likewise of those that lie in a wanted mapping */
    const uint64_t *listed;            /* numbers of blocks that are listed; as leaked */
    size_t listed_count;               /* without the one behind them */
    struct map makers;                 /* numbers of the threads that may allocate; for CHECK_THREAD */
    uint64_t releases_without_stack;   /* for CHECK_RELEASE: of which it is not known */
    /* Where readings begin; NULL: at the beginning.  What is asked does not depend on what was before, but for the
     * blocks that are live there. */
    const struct checkpoint *start;
    bool has_more; /* conditions on blocks that were freed, beyond those two */
};

/* Whether the file lists a block, by its number, as live at the end; one that no event releases may have been released
 * when the file was full. */
bool filter_is_leaked(const struct filter *f, uint64_t number);
/* Conditions of a query for a process; stack conditions that need no events are
 * decided here.  ERR_ABSENT: what is asked for was not recorded.  Release whatever comes back. */
int filter_init(struct filter *f, const struct query *q, const struct when *w,
                const struct wake_reader *reader, uint32_t process, struct err *err);
void filter_release(struct filter *f);
/* Columns that the conditions at birth need (enum wake_column). */
unsigned filter_columns(const struct filter *f);
/* Visits events as wake_reader_visit_columns does; match_at has the allocations that pass the conditions at birth.  Several
 * CPUs look at them, a batch of events each. */
int filter_visit(const struct filter *f, struct wake_reader *reader, uint32_t process, uint64_t to_ns,
                 unsigned columns, wake_block_fn *visit, void *context, struct err *err);
/* The allocations of a batch that pass, as a flag for each event. */
void filter_flag(const struct wake_block *b, uint8_t *pass);

/* allowed[stack] = 1 for those that are wanted (none named: all) and not unwanted. */
void filter_name_stacks(uint8_t *allowed, size_t count, const uint32_t *wanted, size_t wanted_count,
                        const uint32_t *unwanted, size_t unwanted_count);

/* The stack that a number stands for: those that the file does not know are 0. */
static inline uint32_t filter_stack(const struct filter *f, uint32_t stack)
{
    return stack < f->stack_count ? stack : 0;
}

static inline bool range_has(const struct query_range *r, uint64_t value)
{
    return value - r->min <= r->max - r->min && r->min <= r->max;
}

static inline bool range_is_whole(const struct query_range *r)
{
    return r->min == 0 && r->max == UINT64_MAX;
}

/* The end of a block. */
struct fate {
    uint64_t born_ns, died_ns; /* died_ns: only if it was freed */
    bool freed, temporary;
    bool by_wanted_thread;
};

/* The conditions at death, without those on chains. */
static inline bool filter_fate(const struct filter *f, const struct fate *fate)
{
    if (!fate->freed)
        return !f->none_leaked && range_has(&f->query->filter.lifetime,
                                            f->end_ns > fate->born_ns ? f->end_ns - fate->born_ns : 0);
    if (f->none_freed || fate->died_ns - f->died.min > f->died.max - f->died.min ||
        fate->died_ns - fate->born_ns - f->lifetime.min > f->lifetime.max - f->lifetime.min)
        return false;
    return !f->has_more ||
           ((f->query->filter.freed != SIDE_OUTSIDE || !range_has(&f->when->window, fate->died_ns)) &&
            ((f->checks & CHECK_TEMPORARY) == 0 || fate->temporary) &&
            ((f->checks & CHECK_FREER) == 0 || fate->by_wanted_thread));
}

#endif

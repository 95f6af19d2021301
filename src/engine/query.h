/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * query: a question about a recording, and how it is answered.
 *
 *     struct query q;
 *     query_init(&q);
 *     query_parse(&q, "size-min", "4K", &err)      (engine/parse.h)
 *     query_run(&q, reader, &result, &err)         (engine/result.h)
 *     query_release(&q);
 *
 * Whoever keeps a recording open for many questions gives it a ledger (engine/ledger.h).
 *
 * Which blocks.  A query is about the blocks (allocations) that pass its
 * filter: all conditions that are set hold.  A block was born, and has died or
 * is leaked; times are on the recording's clock.  Of two events at the same
 * time the order in the file decides, and "at a moment" means behind all events
 * of that time.
 *
 * Which stretch.  The window says what is counted: allocations and releases in
 * it, the peak within (of blocks born before it too), the level at its end.  It
 * is no filter: see `allocated` and `freed` for those.
 *
 * A realloc ends one block and begins another; the two are links of a chain.  A
 * block continues the chain of the block that it names as the one before, if
 * that was released by realloc and nobody has continued it yet.  Every block
 * is in one chain, most are in one of length 1.
 *
 * A group is all blocks of one stack of one process, whether they match or not.  Samples count as what they
 * stand for, and blocks that are in the totals alone are counted too, where these are sound.
 *
 * The same words are asked of mappings, where they make sense (engine/maps_filter.h).
 */
#ifndef HW_ENGINE_QUERY_H
#define HW_ENGINE_QUERY_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/result.h"
#include "store/names.h"
#include "store/reader.h"
#include "tool/arena.h"
#include "tool/err.h"
#include "tool/vec.h"

/* A moment as a person gives it. */
enum query_when {
    WHEN_UNSET = 0,
    WHEN_NS,      /* on the recording's clock */
    WHEN_PERCENT, /* of the run: from the first start to the last end of the chosen processes */
    WHEN_MARK,    /* the first mark of this name in a chosen process */
    WHEN_DATE,    /* ns since 1970; before the recording began: when it began */
    WHEN_PEAK_RSS /* the highest sample in the window; as `moment`, alive_at, alive_at_2 */
};

struct query_time {
    enum query_when when;
    uint64_t ns;
    double percent;
    const char *mark;
};

/* Both ends included. */
struct query_range {
    uint64_t min, max;
};

/* A number, or a share of something. */
struct query_amount {
    bool is_set, is_percent;
    uint64_t number;
    double percent;
};

enum query_side {
    SIDE_ANY = 0,
    SIDE_INSIDE,  /* happened in the window */
    SIDE_OUTSIDE, /* did not happen in the window; `freed`: a leaked block too */
};

/* All that are set must hold. */
enum query_state {
    STATE_LEAKED = 1,       /* never freed: live at the end, as the file has it */
    STATE_FREED = 2,        /* not leaked */
    STATE_TEMPORARY = 4,    /* as `temporary_...` says */
    STATE_CHAIN_LEAKED = 8, /* the last link of its chain was never freed */
    STATE_GROUP_LEAKED = 16 /* no block of its group was ever freed */
};

enum query_mapped { MAPPED_ANY = 0, MAPPED_OWN, MAPPED_SHARED };
enum query_arena { ARENA_ANY = 0, ARENA_MAIN, ARENA_OTHER };

enum query_field { FIELD_FUNCTION, FIELD_SOURCE, FIELD_MODULE };

/* POSIX extended regular expression.  A stack matches when one of its frames
 * does; negated: when none does. */
struct query_pattern {
    enum query_field field;
    bool negated;
    const char *text;
};

/* A thread by its tid, or (name not NULL) by its name. */
struct query_thread {
    uint32_t tid;
    const char *name;
};

/* As VEC has it. */
struct query_numbers {
    uint32_t *data;
    size_t count, capacity;
};

struct block_list;

/* What a word can be asked of. */
enum query_about { ABOUT_BLOCKS = 1, ABOUT_MAPPINGS = 2, ABOUT_BOTH = 3 };

struct query_filter {
    struct query_time allocated_from, allocated_to;
    struct query_time freed_from, freed_to; /* a leaked block matches neither */
    struct query_time kept_until;           /* leaked, or freed at the moment or later */
    struct query_time alive_at, alive_at_2; /* live at the moment */
    enum query_side allocated, freed;
    unsigned states; /* enum query_state */
    struct query_range size, usable, slack, address;
    struct query_range lifetime;                     /* ns; a leaked block lives until its process ends */
    struct query_range depth;                        /* frames of its stack, without those left out */
    struct query_range chain_length, chain_position; /* position from 1 */
    struct query_range chain_first_size, chain_last_size;
    struct query_range chain_lifetime; /* ns, from the first birth to the last death */
    struct query_range group_allocations;
    struct query_amount group_leaked_min, group_leaked_max; /* or share of the group's blocks */
    struct query_amount group_interval_min,
        group_interval_max; /* ns between first and last birth, or share of the run */
    struct query_time group_peak_from, group_peak_to; /* when the group's bytes were first at their highest */
    uint32_t kinds;                                   /* bit n: enum record_kind n; 0 = any */
    enum query_mapped mapped; /* glibc gave it a mapping of its own (engine/is_mmapped.h) */
    enum query_arena arena;   /* of glibc's malloc; what has a mapping of its own belongs to the main one */
    struct query_numbers
        mappings;              /* numbers: it lies in one of these (engine/in_mapping.h); empty = anywhere */
    const char *blocks_from;   /* it is listed in the file of this name; NULL = any */
    struct block_list *blocks; /* what that file says (engine/block_list.h): whoever parses has it read */
    const char *mark;          /* born behind a mark of this name and before the next mark; NULL = any */
    struct query_numbers stacks;              /* numbers; empty = any */
    struct query_numbers not_stacks;          /* numbers: none of these */
    VEC(struct query_thread) threads;         /* that allocated; empty = any */
    VEC(struct query_thread) freeing_threads; /* that freed; empty = any */
    VEC(struct query_pattern) patterns;       /* all must hold */
    /* The same of the stack that it was released from.  A leaked block matches none of them, negated
     * or not, nor does one of which that stack is not known (engine/released_from.h). */
    struct query_numbers freeing_stacks, not_freeing_stacks;
    VEC(struct query_pattern) freeing_patterns;
    /* Of mappings alone (engine/maps_filter.h): */
    struct query_range peak_rss;
    unsigned rights, no_rights; /* enum wake_rights: it has all of these, and none of those */
};

enum query_split { SPLIT_NONE = 0, SPLIT_THREAD, SPLIT_KIND };

/* What a query may ask for beyond what every recording has ready. */
enum query_want {
    WANT_DETAIL =
        1, /* every member of struct metrics; without it slack_bytes, lifetimes, first and last are 0 */
    WANT_MEDIAN = 2,     /* lifetime_median_ns, and with it lifetimes, first and last */
    WANT_HISTOGRAMS = 4, /* sizes and lifetimes */
};

/* The names at a frame of a stack, or NULL. */
typedef const struct name_place *query_place_fn(void *context, uint32_t process,
                                                const struct wake_node *node);
/* Whether the blocks of a stack count, beside all other conditions. */
typedef bool query_stack_fn(void *context, uint32_t process, uint32_t stack);
/* Called now and then: events read, and to be read in all. */
typedef void query_progress_fn(void *context, uint64_t done, uint64_t total);

enum { QUERY_KEYS = 128 };

struct query {
    struct query_numbers pids;  /* empty = all processes */
    struct query_time from, to; /* the window; unset: the whole run */
    struct query_time
        moment; /* of live_*; unset: the end of the window, of an open one that of each process */
    struct query_filter filter;
    enum query_split split;
    unsigned want;    /* enum query_want */
    uint32_t ticks;   /* of the timeline; 0 = none */
    bool rough_ticks; /* without a filter the timeline may be made of chunk headers alone */
    bool each_peak;   /* every process is to keep its own peak, not only that with the highest */
    bool sums_only;   /* nobody asks for peaks, which may then be 0: some filters cost half */
    /* Behind the end of the recording, which is one of several, nothing is live; else a moment that lies there is taken as the end. */
    bool has_afterwards;
    /* Temporary: freed by the thread that made it, before that thread has made
     * this many allocations more (1: before its next); or, when
     * temporary_ns is not 0, within this time. */
    uint64_t temporary_allocations;
    uint64_t temporary_ns;

    query_place_fn *find_place; /* needed for patterns of functions and sources */
    void *place_context;
    query_stack_fn *keeps_stack; /* NULL = all */
    void *keeps_context;
    query_progress_fn *progress; /* NULL = nobody watches */
    void *progress_context;
    const volatile sig_atomic_t *interrupt; /* not 0: stop; NULL = never */
    struct arena arena;                     /* texts */
    /* The latest key that makes sense of blocks alone, of mappings alone; NULL = none. */
    const char *key_of_blocks, *key_of_mappings;
    uint64_t given[QUERY_KEYS / 64]; /* which keys were, in the order of their table (engine/parse.h) */
    unsigned conditions;             /* how many of them say which blocks */
};

void query_init(struct query *q);
void query_release(struct query *q);

/* Whether all that is asked for makes sense of blocks, of mappings.  ERR_USAGE: the sentence names what
 * does not. */
int query_suits_blocks(const struct query *q, struct err *err);
int query_suits_mappings(const struct query *q, struct err *err);

/* Answers into *result (query_result_init'ed).  0, or ERR_ABSENT (no such
 * process, mark or thread), ERR_USAGE, ERR_MEMORY, ERR_IO.  An answer that was
 * interrupted is a success; `interrupted` says so. */
int query_run(const struct query *q, struct wake_reader *reader, struct query_result *result,
              struct err *err);

#endif

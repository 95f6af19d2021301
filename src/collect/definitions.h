/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * definitions: what the records of one process define: threads, modules, stacks, texts, pools.
 * Takes them from the lanes, numbers them, hands them to the writer, and
 * answers for the events that refer to them.
 *
 * Modules and threads are entered as they are found. Stacks wait until definitions_settle:
 * the module that a frame lies in may have been told in a lane that is read later.
 * For one reader's round all of that is before any event that needs it
 * (wire/segment.h, invariant 3).
 */
#ifndef HW_COLLECT_DEFINITIONS_H
#define HW_COLLECT_DEFINITIONS_H

#include "collect/modmap.h"
#include "collect/stackbook.h"
#include "store/writer.h"
#include "tool/arena.h"
#include "tool/map.h"
#include "tool/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum { DEFINITIONS_POOLS_MAX = 1024 };

/* A stack on its way: STACK has been read, FRAMES are coming in. */
struct definitions_pending {
    struct stackbook_raw raw;
    uint32_t want;
    VEC(uint64_t) addresses;
    bool open;
};

/* A stack that is whole but not entered yet. */
struct definitions_waiting {
    struct stackbook_raw raw;
    size_t first; /* of its addresses in waiting_addresses */
};

/* A pool by the probe's number.  Two threads that ask for the same new name at once get two. */
struct definitions_pool {
    const char *name; /* NULL: not told of */
    uint32_t number;  /* the first of that name: what the recording calls it */
};

struct definitions {
    struct wake_writer *writer;
    uint32_t process;
    uint32_t pid;    /* who can be asked where a file is; 0 = nobody */
    const char *exe; /* as the process was started, which may be a script; NULL = not known */
    struct modmap modules;
    struct stackbook stacks;
    VEC(struct wake_module_info) module_list; /* number 1 is at 0; texts in the arena */
    VEC(const char *) texts;                  /* by number; NULL = not seen */
    struct arena arena;
    struct definitions_pool pools[DEFINITIONS_POOLS_MAX + 1];
    struct map by_content; /* of a module: its number; one that comes back keeps it */
    VEC(struct definitions_waiting) waiting;
    VEC(uint64_t) waiting_addresses;
    VEC(uint32_t) thread_numbers; /* by the probe's number; 0 = not seen */
    VEC(uint32_t) tids;           /* tids.data[n - 1] of thread n */
    uint64_t anomalies;           /* definitions that made no sense */
    bool out_of_memory;
};

void definitions_init(struct definitions *b, struct wake_writer *writer, uint32_t process);
void definitions_release(struct definitions *b);

/* w: the words of the record, as many as record_words says. */
void definitions_add_module(struct definitions *b, const uint64_t *w, uint32_t words);
/* Returns the thread's number in the recording. */
uint32_t definitions_add_thread(struct definitions *b, uint64_t probe_number, uint32_t tid,
                                const char name[16], uint64_t time_ns);
/* The number of a thread by the probe's number; 0: unknown. */
uint32_t definitions_find_thread(const struct definitions *b, uint64_t probe_number);
void definitions_name_thread(struct definitions *b, uint32_t tid, const char name[16], uint64_t time_ns);

void definitions_add_text(struct definitions *b, const uint64_t *w, uint32_t words);
/* NUL-terminated; "" for a number that was never told. */
const char *definitions_text(const struct definitions *b, uint32_t number);
/* Told more than once, perhaps, by threads that need it at once. */
void definitions_add_pool(struct definitions *b, uint32_t pool, uint32_t name_text, uint32_t unit_text);
/* The pool's number in the recording; 0: unknown. */
uint32_t definitions_find_pool(const struct definitions *b, uint64_t pool);

/* The module of a number in a frame; NULL: none. */
const struct wake_module_info *definitions_module(const struct definitions *b, uint32_t number);

/* False: the record does not make sense here. */
bool definitions_open_stack(struct definitions *b, struct definitions_pending *p, const uint64_t w[3]);
bool definitions_add_frames(struct definitions *b, struct definitions_pending *p, const uint64_t *addresses,
                            uint32_t count);
void definitions_pending_release(struct definitions_pending *p);

/* From `generation` on no module is at [start, end). */
void definitions_drop_module(struct definitions *b, uint64_t start, uint64_t end, uint64_t generation);

/* Every lane has been scanned: enters the stacks that wait. */
void definitions_settle(struct definitions *b);

#endif

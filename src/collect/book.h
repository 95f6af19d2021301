/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * book: what the records of one process define: threads, modules, stacks, texts, pools.
 * Takes them from the lanes, numbers them, hands them to the writer, and
 * answers for the events that refer to them.
 *
 * Modules and threads are entered as they are found. Stacks wait until book_settle:
 * the module that a frame lies in may have been told in a lane that is read later.
 * For one reader's round all of that is before any event that needs it
 * (wire/segment.h, invariant 3).
 */
#ifndef HW_COLLECT_BOOK_H
#define HW_COLLECT_BOOK_H

#include "collect/modmap.h"
#include "collect/stackbook.h"
#include "store/writer.h"
#include "tool/arena.h"
#include "tool/map.h"
#include "tool/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum { BOOK_POOLS_MAX = 1024 };

/* A stack on its way: STACK has been read, FRAMES are coming in. */
struct book_pending {
    struct stackbook_raw raw;
    uint32_t want;
    VEC(uint64_t) addresses;
    bool open;
};

/* A stack that is whole but not entered yet. */
struct book_waiting {
    struct stackbook_raw raw;
    size_t first; /* of its addresses in waiting_addresses */
};

/* A pool by the probe's number.  Two threads that ask for the same new name at once get two. */
struct book_pool {
    const char *name; /* NULL: not told of */
    uint32_t number;  /* the first of that name: what the recording calls it */
};

struct book {
    struct wake_writer *writer;
    uint32_t process;
    uint32_t pid;    /* who can be asked where a file is; 0 = nobody */
    const char *exe; /* as the process was started, which may be a script; NULL = not known */
    struct modmap modules;
    struct stackbook stacks;
    VEC(struct wake_module_info) module_list; /* number 1 is at 0; texts in the arena */
    VEC(const char *) texts;                  /* by number; NULL = not seen */
    struct arena arena;
    struct book_pool pools[BOOK_POOLS_MAX + 1];
    struct map by_content; /* of a module: its number; one that comes back keeps it */
    VEC(struct book_waiting) waiting;
    VEC(uint64_t) waiting_addresses;
    VEC(uint32_t) thread_numbers; /* by the probe's number; 0 = not seen */
    VEC(uint32_t) tids;           /* tids.data[n - 1] of thread n */
    uint64_t anomalies;           /* definitions that made no sense */
    bool out_of_memory;
};

void book_init(struct book *b, struct wake_writer *writer, uint32_t process);
void book_release(struct book *b);

/* w: the words of the record, as many as record_words says. */
void book_add_module(struct book *b, const uint64_t *w, uint32_t words);
/* Returns the thread's number in the recording. */
uint32_t book_add_thread(struct book *b, uint64_t probe_number, uint32_t tid, const char name[16],
                         uint64_t time_ns);
/* The number of a thread by the probe's number; 0: unknown. */
uint32_t book_find_thread(const struct book *b, uint64_t probe_number);
void book_name_thread(struct book *b, uint32_t tid, const char name[16], uint64_t time_ns);

void book_add_text(struct book *b, const uint64_t *w, uint32_t words);
/* NUL-terminated; "" for a number that was never told. */
const char *book_text(const struct book *b, uint32_t number);
/* Told more than once, perhaps, by threads that need it at once. */
void book_add_pool(struct book *b, uint32_t pool, uint32_t name_text, uint32_t unit_text);
/* The pool's number in the recording; 0: unknown. */
uint32_t book_find_pool(const struct book *b, uint64_t pool);

/* The module of a number in a frame; NULL: none. */
const struct wake_module_info *book_module(const struct book *b, uint32_t number);

/* False: the record does not make sense here. */
bool book_open_stack(struct book *b, struct book_pending *p, const uint64_t w[3]);
bool book_add_frames(struct book *b, struct book_pending *p, const uint64_t *addresses, uint32_t count);
void book_pending_release(struct book_pending *p);

/* From `generation` on no module is at [start, end). */
void book_drop_module(struct book *b, uint64_t start, uint64_t end, uint64_t generation);

/* Every lane has been scanned: enters the stacks that wait. */
void book_settle(struct book *b);

#endif

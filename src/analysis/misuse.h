/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * misuse: releases that should not have been, as the record tells.
 *
 *     double-free       a block that was freed already
 *     inside-block      an address inside of a block, not its beginning
 *     never-allocated   an address that nobody was seen to allocate
 *     mismatch          new with free, malloc with delete, new[] with delete, and so on
 *     inherited         no misuse: a forked child frees what its parent made
 *
 * Releases have a stack where that was asked for (record --free-stacks), and those by realloc
 * always, since what it gives has one.  Of others the thread, the time and the function are known.
 *
 * Equal ones (same kind of misuse, same process, same stacks, released the same way) are
 * counted together; the first is told.
 */
#ifndef HW_ANALYSIS_MISUSE_H
#define HW_ANALYSIS_MISUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/query.h"
#include "store/reader.h"
#include "tool/err.h"
#include "tool/map.h"
#include "tool/vec.h"

enum misuse_kind {
    MISUSE_DOUBLE_FREE,
    MISUSE_INSIDE,
    MISUSE_NEVER,
    MISUSE_MISMATCH,
    MISUSE_INHERITED,
    MISUSE_COUNT
};

enum {
    MISUSE_ADDRESSES = 4096
}; /* unknown ones that are followed in a process; others are counted as never-allocated */

/* What is known of the block; all 0 where nothing is. */
struct misuse_block {
    bool is_known, was_freed;
    uint32_t process; /* that made it */
    uint32_t stack, thread;
    uint8_t kind; /* enum record_kind */
    uint64_t address, size, born_ns;
    uint64_t freed_ns; /* this and the next three: before the misuse, if it was */
    uint32_t freed_thread, freed_stack;
    uint8_t freed_how;
};

struct misuse {
    enum misuse_kind kind;
    uint64_t count;
    /* The first of them: */
    uint32_t process, thread;
    uint64_t time_ns, address;
    uint32_t stack; /* of the release; 0 = not known */
    uint8_t how;    /* enum record_how */
    struct misuse_block block;
};

struct misuses {
    VEC(struct misuse) list; /* in the order in which they were first seen, process by process */
    struct map slots;        /* hash -> index; the next hash where that is another */
    uint64_t not_followed;   /* unknown addresses beyond MISUSE_ADDRESSES */
};

/* A stable word, as above. */
const char *misuse_name(enum misuse_kind kind);

void misuses_init(struct misuses *m);
void misuses_release(struct misuses *m);
/* Looks at all events of a process, and at those of its forked ancestors where they
 * matter.  q: for its progress and interrupt alone.  ERR_MEMORY; interrupted: 0, with what was seen. */
int misuses_read(struct misuses *m, const struct query *q, struct wake_reader *r, uint32_t process,
                 struct err *err);

#endif

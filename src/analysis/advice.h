/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * advice: what a program could save, and where.
 *
 *     reserve     blocks that grow by realloc: the final size could be asked for at once
 *     reuse       blocks freed before their thread makes another: one could serve all
 *     pool        masses of tiny blocks: headers and rounding take more than they need
 *     keep        large blocks that live shortly: their pages are got and given back each time
 *     cross       blocks freed by another thread than the one that made them
 *     align       blocks that are much smaller than their alignment
 *
 * Advice is put in order by what it would save, as a share of the peak (memory) or of
 * the run time (time).  Time is estimated with the fixed costs below; they are typical of
 * glibc on a machine of these years, and good for an order and no more.
 *
 * Of a sampled process blocks count as in store/weight.h.  Which block came next, or continues
 * another, cannot be told from samples: no word about reserve and reuse then.  Nor of blocks that were culled.
 */
#ifndef HW_ANALYSIS_ADVICE_H
#define HW_ANALYSIS_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace.h"
#include "engine/query.h"
#include "store/reader.h"
#include "tool/err.h"
#include "tool/vec.h"

enum advice_kind {
    ADVICE_RESERVE,
    ADVICE_REUSE,
    ADVICE_POOL,
    ADVICE_KEEP,
    ADVICE_CROSS,
    ADVICE_ALIGN,
    ADVICE_COUNT
};

enum {
    ADVICE_PAIR_NS = 20,           /* malloc and free */
    ADVICE_COPY_BYTES_PER_NS = 10, /* of realloc */
    ADVICE_PAGE_NS = 250,          /* a page that is touched for the first time */
    ADVICE_CROSS_NS = 50,          /* a free that goes to another thread's arena */

    ADVICE_TINY = 32,               /* bytes; header and rounding are half of it or more */
    ADVICE_HEADER = 8,              /* of glibc's blocks */
    ADVICE_LARGE = 128 << 10,       /* from here on glibc asks the system */
    ADVICE_SHORT_NS = 10 * 1000000, /* 10 ms */
    ADVICE_PAGE = 4096,
    ADVICE_CALLS_MIN = 100,  /* fewer are not worth a word */
    ADVICE_SAMPLES_MIN = 10, /* of a stack, where blocks are sampled: of fewer the estimates mean nothing */
};

/* What all blocks of a stack did. */
struct advice_row {
    uint32_t process, stack;
    bool is_sampled;
    uint64_t events; /* of all that follows: how many blocks were recorded; else what they stand for */
    uint64_t blocks;
    uint64_t chains, steps, copied_bytes, largest; /* of chains of two reallocs or more: their final size */
    uint64_t temporaries;
    uint64_t tiny, tiny_live, tiny_overhead, tiny_overhead_max, tiny_most; /* now and at most */
    uint64_t shorts, short_bytes;
    uint64_t crossed;
    uint64_t aligned, aligned_bits, aligned_bytes, aligned_live, aligned_most;
};

struct advice {
    enum advice_kind kind;
    uint32_t trace;
    uint64_t saved_bytes, saved_ns; /* one of them is 0 */
    double share;                   /* of the peak, or of the run time */
    uint64_t count;                 /* blocks it is about: steps, temporaries, tiny ones at once, ... */
    uint64_t bytes;                 /* RESERVE: copied; KEEP: asked for; POOL, ALIGN: not used */
    uint64_t size;                  /* RESERVE: to ask for at once; ALIGN: the alignment */
};

struct advices {
    VEC(struct advice_row) rows;
    VEC(struct advice) list;
    bool is_sampled;   /* some process is */
    uint64_t left_out; /* blocks that are not among the events: culled, or behind the end of a full file */
};

/* A stable word, as above. */
const char *advice_name(enum advice_kind kind);

void advices_init(struct advices *a);
void advices_release(struct advices *a);
/* Looks at all events of a process; its number becomes base + process.  q: for its progress and interrupt alone.  ERR_MEMORY. */
int advices_read(struct advices *a, const struct query *q, struct wake_reader *r, uint32_t process,
                 uint32_t base, struct err *err);
/* Makes the list, the largest share first.  peak_bytes, runtime_ns: what shares are of.  ERR_MEMORY. */
int advices_build(struct advices *a, struct traces *c, uint64_t peak_bytes, uint64_t runtime_ns,
                  struct err *err);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rollup: what each function, line, module, file, thread, kind or process is
 * responsible for.
 *
 *   self       rows whose own frame is in the group.  The own frame of a stack
 *              is the innermost that is neither allocator nor language library
 *              (traces_find_own): a vector that grows is charged to the function
 *              that pushed.  Self values of all groups add up to the total.
 *   inclusive  rows with any frame in the group; each stack counts once, however
 *              often a recursive function is in it.
 *
 * For threads, kinds and processes the two are the same. Processes share no heap: the
 * peak of the total is that of the process with the highest.
 */
#ifndef HW_ANALYSIS_ROLLUP_H
#define HW_ANALYSIS_ROLLUP_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/trace.h"
#include "engine/measure.h"
#include "engine/result.h"
#include "tool/err.h"
#include "tool/map.h"
#include "tool/vec.h"

enum rollup_by {
    ROLLUP_NONE,
    ROLLUP_FUNCTION,
    ROLLUP_LINE,
    ROLLUP_MODULE,
    ROLLUP_FILE,
    ROLLUP_THREAD, /* rows must be split by thread */
    ROLLUP_KIND,   /* rows must be split by kind */
    ROLLUP_PROCESS,
    ROLLUP_BY_COUNT
};

struct rollup_group {
    uint32_t frame;           /* that stands for it + 1 (function, line, module, file); 0 = no stack */
    uint32_t process, thread; /* ROLLUP_THREAD, ROLLUP_PROCESS */
    uint32_t kind;            /* ROLLUP_KIND */
    uint64_t seen;            /* the latest row that counted here + 1 */
    struct metrics self, inclusive;
};

struct rollup {
    enum rollup_by by;
    VEC(struct rollup_group) list;
    struct map slots; /* key -> index */
    struct metrics total;
    uint64_t rows;
};

/* A stable word: function, line, module, file, thread, kind, process. */
const char *rollup_by_name(enum rollup_by by);
/* ROLLUP_NONE: no such word. */
enum rollup_by rollup_by_find(const char *name);

void rollup_init(struct rollup *g, enum rollup_by by);
void rollup_release(struct rollup *g);
/* Adds rows; their processes count as in c.  ERR_MEMORY. */
int rollup_add(struct rollup *g, struct traces *c, const struct query_row *rows, size_t count,
               struct err *err);
/* Largest first, by self values, then by inclusive ones (main would always lead
 * those).  Nothing may be added afterwards. */
void rollup_sort(struct rollup *g, const struct traces *c, enum measure measure);

#endif

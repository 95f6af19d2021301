/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * group: what each function, line, module, file, thread, kind or process is
 * responsible for.
 *
 *   self       rows whose own frame is in the group.  The own frame of a stack
 *              is the innermost that is neither allocator nor language library
 *              (chains_find_own): a vector that grows is charged to the function
 *              that pushed.  Self values of all groups add up to the total.
 *   inclusive  rows with any frame in the group; each stack counts once, however
 *              often a recursive function is in it.
 *
 * For threads, kinds and processes the two are the same.
 */
#ifndef HW_QUERY_GROUP_H
#define HW_QUERY_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "query/chain.h"
#include "query/measure.h"
#include "query/result.h"
#include "tool/err.h"
#include "tool/map.h"
#include "tool/vec.h"

enum group_by {
    GROUP_NONE,
    GROUP_FUNCTION,
    GROUP_LINE,
    GROUP_MODULE,
    GROUP_FILE,
    GROUP_THREAD, /* rows must be split by thread */
    GROUP_KIND,   /* rows must be split by kind */
    GROUP_PROCESS,
    GROUP_BY_COUNT
};

struct group {
    uint32_t frame;           /* that stands for it + 1 (function, line, module, file); 0 = no stack */
    uint32_t process, thread; /* GROUP_THREAD, GROUP_PROCESS */
    uint32_t kind;            /* GROUP_KIND */
    uint64_t seen;            /* the latest row that counted here + 1 */
    struct metrics self, inclusive;
};

struct groups {
    enum group_by by;
    VEC(struct group) list;
    struct map slots; /* key -> index */
    struct metrics total;
    uint64_t rows;
};

/* A stable word: function, line, module, file, thread, kind, process. */
const char *group_by_name(enum group_by by);
/* GROUP_NONE: no such word. */
enum group_by group_by_find(const char *name);

void groups_init(struct groups *g, enum group_by by);
void groups_release(struct groups *g);
/* Adds rows; their processes count as in c.  ERR_MEMORY. */
int groups_add(struct groups *g, struct chains *c, const struct query_row *rows, size_t count,
               struct err *err);
/* Largest first, by self values, then by inclusive ones (main would always lead
 * those).  Nothing may be added afterwards. */
void groups_sort(struct groups *g, const struct chains *c, enum measure measure);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * report_options: what `heapwake report` was asked for.
 */
#ifndef HW_CMD_REPORT_OPTIONS_H
#define HW_CMD_REPORT_OPTIONS_H

#include "analysis/rollup.h"
#include "analysis/stack_filter.h"
#include "analysis/tree.h"
#include "analysis/what_if.h"
#include "cmd/options.h"
#include "cmd/where.h"
#include "cmd/worst.h"
#include "engine/maps.h"
#include "engine/measure.h"
#include "engine/query.h"
#include "tool/err.h"
#include "tool/strbuf.h"
#include "tool/vec.h"

#include <glob.h>
#include <stdbool.h>
#include <stddef.h>

enum report_shape { REPORT_SITES, REPORT_GROUPS, REPORT_TREE, REPORT_BLOCKS };

struct report_options {
    VEC(const char *) files;
    VEC(const char *) suppressions; /* files */
    VEC(const char *) wrappers;     /* functions that pass malloc on */
    struct query query;             /* which blocks, which stretch of time */
    struct where where;             /* fills them */
    struct stack_filter sieve;
    unsigned measures; /* bit n: enum measure n; 0 = the default screen */
    enum report_shape shape;
    enum rollup_by by; /* REPORT_GROUPS */
    enum tree_way way; /* REPORT_TREE */
    const char *root;  /* REPORT_TREE: a function, or NULL */
    size_t limit;
    double threshold; /* 0 to 1 */
    bool has_limit, has_threshold;
    struct strbuf conditions; /* that blocks have to meet, as they were given, a NUL behind each word */
    enum worst worst;         /* of the files only this one is looked at */
    glob_t globbed;           /* names that patterns stand for */
    struct strbuf newest;     /* the file that is taken where none is given; else empty */
    bool histograms;
    bool misuse, advice, maps;
    enum maps_sort sort; /* of mappings */
    bool has_sort, is_reverse;
    struct what_if what_if;
    bool verdicts;                       /* explained, and of files of any size */
    bool details;                        /* of each site in a list */
    bool pools;                          /* in depth; the default screen has a line for each */
    bool changes;                        /* --since or --until: how what is live has changed */
    struct query_time since;             /* unset: nothing was live */
    const char *since_text, *until_text; /* as they were given; NULL = not */
    uint32_t depth;                      /* innermost frames that tell sites apart there, 0 = all */
    bool json;
    bool memtrail; /* REPORT_TREE: in the form of that */
    bool built_in; /* the built-in suppressions count */
};

/* ERR_USAGE: the sentence says what makes no sense; ERR_MEMORY.  Release in any case. */
int report_options_init(struct report_options *o, const struct command *self, int argc, char **argv,
                        struct err *err);
/* For the command's entry in the list. */
extern const struct option report_options_table[];
int report_options_take(void *to, char *name, struct err *err);
void report_options_release(struct report_options *o);
/* Whether something is shown that the filter of blocks is for: all but mappings alone. */
bool report_options_list_blocks(const struct report_options *o);

#endif

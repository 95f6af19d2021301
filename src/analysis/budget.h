/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * budget: how much a program may take, and whether it did.
 *
 * Limits are given by name, as options or in a file:
 *
 *     # .heapwake.toml
 *     [check]
 *     max-peak = "200M"
 *     max-leak = 0
 *     max-leak-per-site = "4K"
 *     max-leak-growing = 0              by sites with the verdict `grows`
 *     max-leak-stopped = "1M"           by sites with the verdict `stopped`
 *     max-allocations = 100000
 *     max-growth = "5%"                 more than the recording that is the base
 *     base = "ci/base.wake"
 *     suppressions = ["ci/lsan.txt"]   files are named from the folder of this one
 *
 * The file is a small part of TOML: comments, the table [check], whole numbers,
 * strings in double quotes (\" and \\ are the only escapes), lists of strings on
 * one line.  What is not known is refused, with the number of its line: a
 * limit with a wrong name would hold nobody back.
 */
#ifndef HW_ANALYSIS_BUDGET_H
#define HW_ANALYSIS_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/site.h"
#include "analysis/verdict.h"
#include "engine/measure.h"
#include "tool/arena.h"
#include "tool/err.h"
#include "tool/vec.h"

enum budget_limit {
    BUDGET_PEAK,
    BUDGET_LEAK,
    BUDGET_LEAK_PER_SITE,
    BUDGET_LEAK_GROWING, /* these two by sites with a verdict */
    BUDGET_LEAK_STOPPED,
    BUDGET_ALLOCATIONS,
    BUDGET_GROWTH_PEAK, /* these three against the base */
    BUDGET_GROWTH_LEAK,
    BUDGET_GROWTH_ALLOCATIONS,
    BUDGET_COUNT
};

struct budget {
    struct arena arena;
    bool has[BUDGET_GROWTH_PEAK];
    uint64_t max[BUDGET_GROWTH_PEAK];
    bool has_growth;
    double growth_percent;
    const char *base; /* NULL: none */
    VEC(const char *) suppressions;
};

void budget_init(struct budget *b);
void budget_release(struct budget *b);

/* One limit by its name: max-peak, max-leak, max-leak-per-site, max-leak-growing, max-leak-stopped, max-allocations,
 * max-growth, base, suppressions (adds one).  Given again it replaces.  ERR_USAGE and a sentence; ERR_MEMORY. */
int budget_set(struct budget *b, const char *name, const char *value, struct err *err);
/* The limits of a file.  path: of the file, for the sentence; names in it are taken from its folder.  ERR_INPUT: "x.toml, line 3: ..."; ERR_MEMORY. */
int budget_read(struct budget *b, const char *path, const char *text, size_t length, struct err *err);
/* Whether anything is limited. */
bool budget_has_any(const struct budget *b);
/* Whether verdicts on sites are needed. */
bool budget_has_verdicts(const struct budget *b);

/* One limit held against a recording. */
struct budget_outcome {
    enum budget_limit limit;
    enum measure measure; /* of the sites to blame */
    bool is_kept, is_bytes;
    uint64_t allowed, seen;
    uint64_t base;    /* BUDGET_GROWTH_...: what the base has */
    size_t offenders; /* BUDGET_LEAK_PER_SITE: sites above it */
};

/* Every limit that is set, in the order of enum budget_limit; at most BUDGET_COUNT outcomes.  base: totals of the base, may be
 * NULL.  verdicts: on sites; may be NULL where none are needed.  Returns how many. */
size_t budget_check(const struct budget *b, const struct sites *sites, const struct metrics *base,
                    const struct verdicts *verdicts, struct budget_outcome *outcomes);
/* Whether a limit is about this site: one of a verdict is about sites that have it. */
bool budget_is_about(enum budget_limit limit, const struct verdicts *verdicts, const struct site *site);
/* A stable word: max-peak ... max-growth-peak, max-growth-leak, max-growth-allocations. */
const char *budget_name(enum budget_limit limit);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * callgraph: functions and who calls whom, for one measure.
 *
 *   node   a function: `self` is what sites have that end in it, `all` what sites
 *          have that have it anywhere in their stack
 *   edge   from a caller to a callee: what sites have in whose stack the one
 *          calls the other
 *
 * A site counts once in a node and once in an edge, however often a recursion
 * passes there.  Functions below the threshold are left out; where they stood
 * between two that are shown, an edge passes over them.  Sites without a
 * stack are in the total alone.
 *
 * Time goes by the number of traces, whatever their depth; nothing recurses.
 */
#ifndef HW_ANALYSIS_CALLGRAPH_H
#define HW_ANALYSIS_CALLGRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/site.h"
#include "analysis/trace.h"
#include "engine/measure.h"
#include "tool/err.h"
#include "tool/vec.h"

struct callgraph_node {
    uint32_t frame;     /* one of its frames */
    bool lines_differ;  /* others have other lines */
    uint64_t self, all; /* measure_weight */
};

struct callgraph_edge {
    uint32_t from, to; /* nodes */
    bool passes_over;  /* at least one call in it has functions between that are left out */
    uint64_t weight;
};

struct callgraph {
    enum measure measure;
    double threshold;                 /* share of the total, 0 to 1 */
    uint64_t total;                   /* of all sites */
    size_t left_out;                  /* functions below the threshold */
    VEC(struct callgraph_node) nodes; /* largest first */
    VEC(struct callgraph_edge) edges; /* largest first */
};

void callgraph_init(struct callgraph *g, enum measure measure, double threshold);
void callgraph_release(struct callgraph *g);
/* Once.  ERR_MEMORY. */
int callgraph_build(struct callgraph *g, const struct traces *c, const struct sites *sites, struct err *err);

#endif

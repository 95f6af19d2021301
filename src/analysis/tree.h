/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tree: sites by who called whom, for one measure.
 *
 *   TREE_CALLERS   begins with the innermost frames (the callers of malloc);
 *                  below each function stand those that called it
 *   TREE_CALLEES   begins with the outermost frames (main, threads); below each
 *                  function stand those it called
 *
 * With a root function only stacks that have it count, and it is the one root:
 * its callers, from its innermost call outwards, or its callees, from its
 * outermost call inwards.  A stack counts once, however often it has the
 * function.
 *
 * Frames of one function are one node whatever their lines.  What a node has
 * includes what is below it; what ends in it is `self`.  Siblings below the
 * threshold are one last node that counts them.  So for every node: all = self +
 * all of the children.
 *
 * Only what is above the threshold is ever built: memory goes by what is shown
 * and by the number of sites, not by the number of frames.
 */
#ifndef HW_ANALYSIS_TREE_H
#define HW_ANALYSIS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/site.h"
#include "analysis/trace.h"
#include "engine/measure.h"
#include "tool/err.h"
#include "tool/vec.h"

enum tree_way { TREE_CALLERS, TREE_CALLEES };

struct tree_value {
    uint64_t bytes, blocks;
};

/* Node 0 is above all. */
struct tree_node {
    uint32_t child, next; /* first child, the largest, and next sibling; 0 = none */
    uint32_t frame;       /* one of its frames + 1; 0 = none: the top, sites without a stack, the rest */
    uint32_t rest;        /* so many siblings are in this node, all below the threshold; 0 = it is a node */
    bool lines_differ;    /* frames with other lines are in it too */
    struct tree_value all, self;
};

struct tree {
    enum tree_way way;
    enum measure measure;
    double threshold; /* share of the top, 0 to 1 */
    VEC(struct tree_node) nodes;
};

void tree_init(struct tree *t, enum tree_way way, enum measure measure, double threshold);
void tree_release(struct tree *t);

/* Once.  root: NULL, or what a function is called (analysis/called.h); sites that
 * do not have it are left out.  ERR_MEMORY. */
int tree_build(struct tree *t, const struct traces *c, const struct sites *sites, const char *root,
               struct err *err);

#endif

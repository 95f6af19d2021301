/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tree: sites by who called whom.
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
 * Frames of one function are one node whatever their lines.  Values of a node
 * include what is below it; what ends in it is `self`.  So for every node, before
 * and after pruning: value = self + values of the children, in every metric but
 * the lifetimes.
 */
#ifndef HW_QUERY_TREE_H
#define HW_QUERY_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/chain.h"
#include "query/measure.h"
#include "query/site.h"
#include "tool/err.h"
#include "tool/map.h"
#include "tool/vec.h"

enum tree_way { TREE_CALLERS, TREE_CALLEES };

/* Node 0 is above all. */
struct tree_node {
    uint32_t child, next; /* first child and next sibling; 0 = none */
    uint32_t frame;       /* the first one seen + 1; 0 = none: the top, sites without a stack, the rest */
    uint32_t rest;        /* so many siblings are in this node, all below the threshold; 0 = it is a node */
    bool lines_differ;    /* frames with other lines are in it too */
    struct metrics m, self;
};

struct tree {
    enum tree_way way;
    VEC(struct tree_node) nodes;
    struct map slots; /* parent << 32 | symbol -> node */
};

void tree_init(struct tree *t, enum tree_way way);
void tree_release(struct tree *t);

/* root: NULL, or what a function is called (frame_is_called).  Sites that do
 * not have it are left out.  ERR_MEMORY. */
int tree_add(struct tree *t, const struct chains *c, const struct sites *sites, const char *root,
             struct err *err);

/* Sorts children, largest first, and puts those below threshold (a share of the
 * top, 0 to 1) together in one last node that counts them.  Once, after the
 * last tree_add.  ERR_MEMORY. */
int tree_prune(struct tree *t, const struct chains *c, enum measure measure, double threshold,
               struct err *err);

#endif

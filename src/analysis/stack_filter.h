/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stack_filter: which stacks a report is about, by what their frames are called.
 *
 * A rule is an extended regular expression (POSIX) that is searched in the
 * function, the file and the module of a frame.  A stack is kept when no frame
 * matches an exclude and, if there are includes, some frame matches one.
 */
#ifndef HW_ANALYSIS_STACK_FILTER_H
#define HW_ANALYSIS_STACK_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/result.h"
#include "tool/err.h"
#include "tool/vec.h"

struct traces;
struct stack_filter_rule;

struct stack_filter {
    VEC(struct stack_filter_rule *) rules;
    bool has_include;
};

void stack_filter_init(struct stack_filter *s);
void stack_filter_release(struct stack_filter *s);

/* ERR_USAGE: not a regular expression, the sentence says why; ERR_MEMORY. */
int stack_filter_add(struct stack_filter *s, const char *pattern, bool exclude, struct err *err);
bool stack_filter_keeps(const struct stack_filter *s, const struct traces *c, uint32_t trace);

/* Takes the rows that are not kept out of an answer (their processes count as
 * in c) and makes its total that of the others.  ERR_MEMORY. */
int stack_filter_apply(const struct stack_filter *s, struct traces *c, struct query_result *r,
                       struct err *err);

#endif

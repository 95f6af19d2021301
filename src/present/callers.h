/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * callers: a stack on a page, as people want it: first the innermost frame of
 * the reader's own code, then the library call that it made, then who called
 * it, a line each.
 *
 *     push_order  kitchen.cc:31
 *     in std::vector<>::push_back  stl_vector.h:1280
 *     < serve  kitchen.cc:80
 *     < main  kitchen.cc:112
 *
 * A recursion is shown once (rounds.h). Of deep stacks the outer part is left out, and how much: "< 20 more".
 * JSON has all.
 */
#ifndef HW_PRESENT_CALLERS_H
#define HW_PRESENT_CALLERS_H

#include "analysis/trace.h"
#include "present/page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CALLERS_SHOWN = 12 };

/* The first line, in at most `columns`, without its end; "(no stack)" for trace 0.  Returns the
 * columns used. */
size_t callers_print_lead(struct page *p, const struct traces *c, uint32_t trace, size_t columns);
/* The same where one line of callers follows: of code without names "NAMED > 2 unnamed > app+0x1151", the nearest caller
 * that has a name, what is between, and where it is, if there is room; without such a caller as above. */
size_t callers_print_named_lead(struct page *p, const struct traces *c, uint32_t trace, size_t columns);
/* The lines below as one, as far as they fit: "in std::vector<>::push_back < serve kitchen.cc:80". */
/* named: below such a lead.  Callers without names are skipped where one with a name comes, and how many is said. */
void callers_print_line(struct page *p, const struct traces *c, uint32_t trace, size_t indent, bool named);
/* The lines below, each begun `indent` columns from the left; at most `limit` callers. */
void callers_print_below(struct page *p, const struct traces *c, uint32_t trace, size_t indent, size_t limit);

#endif

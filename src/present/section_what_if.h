/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_what_if: the peak as it was, and as it would have been.
 */
#ifndef HW_PRESENT_SECTION_WHAT_IF_H
#define HW_PRESENT_SECTION_WHAT_IF_H

#include "analysis/what_if.h"
#include "present/json.h"
#include "present/page.h"

struct section_what_if {
    const struct what_if *asked;
    const struct what_if_answer *answer;
};

void section_what_if_text(struct page *p, const struct section_what_if *s);
/* "what_if": {...} */
void section_what_if_json(struct json *j, const struct section_what_if *s);

#endif

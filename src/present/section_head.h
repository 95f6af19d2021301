/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_head: the first lines of a report: what ran, and the figures that
 * matter.  JSON: "summary".
 */
#ifndef HW_PRESENT_SECTION_HEAD_H
#define HW_PRESENT_SECTION_HEAD_H

#include "present/json.h"
#include "present/page.h"
#include "query/nameless.h"
#include "session/summary.h"

#include <stddef.h>
#include <stdint.h>

struct section_head {
    struct summary sum;                           /* of all recordings */
    uint64_t suppressed_bytes, suppressed_blocks; /* of what leaked */
    uint64_t
        omitted_blocks; /* that the size of the file or culling has left out, in none of the lists that follow */
    uint64_t timeline_omitted_blocks; /* nor in the timeline */
    uint64_t releases_without_stack;  /* nor what these released: stacks of releases are asked for */
    const char *conditions;          /* that what follows meets, as they were given, a NUL behind each word */
    size_t conditions_length;        /* 0 = none */
    const struct nameless *nameless; /* files whose own frames have no lines; NULL = none */
    const char *nameless_remark;     /* a sentence about one whose file has gone or is another; NULL = none */
};

void section_head_text(struct page *p, const struct section_head *h);
void section_head_json(struct json *j, const struct section_head *h);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_head: the first lines of a report: what ran, and the figures that
 * matter.  JSON: "summary".
 */
#ifndef HW_PRESENT_SECTION_HEAD_H
#define HW_PRESENT_SECTION_HEAD_H

#include "analysis/missing_debuginfo.h"
#include "present/json.h"
#include "present/page.h"
#include "session/caveats.h"
#include "session/summary.h"

#include <stddef.h>
#include <stdint.h>

struct section_head {
    struct summary sum;                           /* of all recordings */
    uint64_t suppressed_bytes, suppressed_blocks; /* of what leaked */
    struct caveats recording;                     /* what these lack */
    struct caveats answer;    /* what the lists that follow and the timeline lack beside that */
    const char *conditions;   /* that what follows meets, as they were given, a NUL behind each word */
    size_t conditions_length; /* 0 = none */
    const struct missing_debuginfo *nameless; /* files whose own frames have no lines; NULL = none */
    const char *nameless_remark; /* a sentence about one whose file has gone or is another; NULL = none */
};

void section_head_text(struct page *p, const struct section_head *h);
void section_head_json(struct json *j, const struct section_head *h);
/* "caveats" */
void section_head_caveats_json(struct json *j, const struct section_head *h);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_diff: the sites that changed most between two answers, by one measure.
 */
#ifndef HW_PRESENT_SECTION_DIFF_H
#define HW_PRESENT_SECTION_DIFF_H

#include "analysis/compare.h"
#include "analysis/trace.h"
#include "engine/measure.h"
#include "present/json.h"
#include "present/page.h"
#include "session/caveats.h"
#include "session/summary.h"
#include "store/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct section_diff {
    const struct traces *traces;
    struct compare *compare; /* is put in order */
    enum measure measure;
    size_t limit;                                 /* sites shown; 0 = all */
    bool is_grown_only;                           /* on a page: no sites that have become less */
    uint64_t suppressed_before, suppressed_after; /* bytes of leaks that are left out */
};

void section_diff_text(struct page *p, const struct section_diff *s);
/* Under the name of the measure. */
void section_diff_json(struct json *j, const struct section_diff *s);

/* What is compared: a recording, or a moment of one. */
struct section_diff_side {
    const char *file;
    const char *moment; /* as it was given; NULL: the whole run */
    uint64_t moment_ns;
    struct metrics total;
    uint64_t peak_time_ns;
    uint64_t suppressed_bytes; /* leaked, and not in total */
    struct summary sum;
    struct caveats caveats;
    const struct wake_reader *reader; /* for its notes */
};

void section_diff_head_text(struct page *p, const struct section_diff_side *before,
                            const struct section_diff_side *after);
void section_diff_head_json(struct json *j, const char *key, const struct section_diff_side *side);

#endif

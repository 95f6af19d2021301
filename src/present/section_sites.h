/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_sites: the largest sites by one measure.
 *
 * On a page each site begins with the innermost frame of the reader's own code:
 * what stands in the libraries below is left out but for the call that led
 * there ("in std::vector<>::push_back").  JSON has every frame:
 *
 *     {total_bytes, total_blocks, time_ns, sites: [{bytes, blocks, frames: [...], verdict: {...}, details: {...}}]}
 */
#ifndef HW_PRESENT_SECTION_SITES_H
#define HW_PRESENT_SECTION_SITES_H

#include "analysis/programs.h"
#include "analysis/site.h"
#include "analysis/suppress.h"
#include "analysis/verdict.h"
#include "engine/measure.h"
#include "present/json.h"
#include "present/page.h"
#include "present/unknown.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct section_sites {
    const struct traces *traces;
    struct sites *sites; /* are put in order */
    enum measure measure;
    uint64_t moment_ns;   /* live only: when that was; UINT64_MAX = not known, or not the same for all */
    size_t limit;         /* sites shown; 0 = all */
    double threshold;     /* share of the total (0 to 1) below which none is shown */
    bool keeps_first;     /* but the first */
    bool brief;           /* callers on one line; else one a line */
    uint64_t sample_rate; /* not 0: figures are estimates, and their error is shown */
    const struct caveat *unknown;    /* why the list is not known; NULL: it is */
    bool is_of_each;                 /* several recordings, each with its own clock */
    const struct suppress *suppress; /* leaked only: its accounts are shown too; may be NULL */
    const struct verdicts *verdicts; /* of sites that have one; may be NULL */
    bool explain;                    /* verdicts as a sentence, not as a word */
    bool details;                    /* lifetimes and more (present/details.h) */
    const struct programs *programs; /* leaked only: those that have no sites here are summed; may be NULL */
};

void section_sites_text(struct page *p, const struct section_sites *s);
/* Under the name of the measure. */
void section_sites_json(struct json *j, const struct section_sites *s);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_check: limits and whether they were kept: a line each, and the sites
 * to blame for those that were not.  As a page, as JSON, as JUnit's XML and as
 * Markdown; all say the same.
 */
#ifndef HW_PRESENT_SECTION_CHECK_H
#define HW_PRESENT_SECTION_CHECK_H

#include "analysis/budget.h"
#include "analysis/compare.h"
#include "analysis/site.h"
#include "analysis/suppress.h"
#include "analysis/trace.h"
#include "analysis/verdict.h"
#include "present/json.h"
#include "present/page.h"

#include <stdbool.h>
#include <stddef.h>

struct section_check {
    const struct traces *traces;
    struct sites *sites;             /* are put in order */
    struct compare *compare;         /* with the base; NULL = none */
    const struct verdicts *verdicts; /* NULL: no limit asks for them */
    const struct suppress *suppress; /* what leaks are left out */
    const struct budget_outcome *outcomes;
    size_t count;
    const char *subject; /* the recording or the command line */
    const char *program; /* how the program ended: "exit code 3"; NULL: it was not run here */
    bool program_is_fine;
    const char *doubt;  /* why the figures are not sure; NULL: they are */
    const char *remark; /* that they are of a part of the run, by somebody's wish; NULL: of all */
    uint64_t off_ns;    /* the longest that recording was switched off in a process */
};

/* Whether everything is as it should be. */
bool section_check_is_fine(const struct section_check *s);

void section_check_text(struct page *p, const struct section_check *s);
/* The members of an object. */
void section_check_json(struct json *j, const struct section_check *s);
void section_check_junit(struct strbuf *out, const struct section_check *s);
void section_check_markdown(struct strbuf *out, const struct section_check *s);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_advice: what could be saved, and where.
 */
#ifndef HW_PRESENT_SECTION_ADVICE_H
#define HW_PRESENT_SECTION_ADVICE_H

#include "analysis/advice.h"
#include "analysis/trace.h"
#include "present/json.h"
#include "present/page.h"

#include <stddef.h>

struct section_advice {
    const struct traces *traces;
    const struct advices *advices;
    size_t limit;       /* 0 = all */
    double least_share; /* of the peak or the run time, on a page; 0 = any */
};

void section_advice_text(struct page *p, const struct section_advice *s);
/* "advice": [...] */
void section_advice_json(struct json *j, const struct section_advice *s);

#endif

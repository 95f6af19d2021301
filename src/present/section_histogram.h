/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_histogram: how many blocks of which size, or how long they lived.
 * JSON, under "sizes" or "lifetimes": [{from, to, blocks, bytes}], empty
 * buckets left out, `to` included.
 */
#ifndef HW_PRESENT_SECTION_HISTOGRAM_H
#define HW_PRESENT_SECTION_HISTOGRAM_H

#include "engine/result.h"
#include "present/json.h"
#include "present/page.h"

enum section_histogram { HISTOGRAM_SIZES, HISTOGRAM_LIFETIMES };

void section_histogram_text(struct page *p, enum section_histogram which, const struct query_histogram *h);
void section_histogram_json(struct json *j, enum section_histogram which, const struct query_histogram *h);

#endif

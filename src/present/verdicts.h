/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * verdicts: how the verdict on a site is printed: a word behind its name, a
 * sentence below it, or JSON.
 */
#ifndef HW_PRESENT_VERDICTS_H
#define HW_PRESENT_VERDICTS_H

#include "analysis/verdict.h"
#include "present/json.h"
#include "present/page.h"

#include <stddef.h>

enum { VERDICTS_WORD_WIDTH = 11 }; /* "  (passing)" */

void verdicts_print_word(struct page *p, const struct verdict *v);
/* A line of its own. */
void verdicts_print_line(struct page *p, const struct verdict *v, size_t indent);
/* "verdict": {...} */
void verdicts_json(struct json *j, const struct verdict *v);

#endif

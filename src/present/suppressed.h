/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * suppressed: what a list of leaks leaves out, because a rule names it, and which rule.
 */
#ifndef HW_PRESENT_SUPPRESSED_H
#define HW_PRESENT_SUPPRESSED_H

#include "analysis/suppress.h"
#include "engine/measure.h"
#include "present/json.h"
#include "present/page.h"

/* For the title of a list: ", without 75.0 KiB suppressed", if this measure has any.  s may be NULL. */
void suppressed_note(struct strbuf *out, enum measure measure, const struct suppress *s);
/* A table of the rules that fitted; s may be NULL. */
void suppressed_print(struct page *p, const struct suppress *s);
/* An object called "suppressed", if this measure can have any.  s may be NULL. */
void suppressed_json(struct json *j, enum measure measure, const struct suppress *s);

#endif

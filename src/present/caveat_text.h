/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * caveat_text: what a recording or an answer lacks, in words: the one place where they are made.
 */
#ifndef HW_PRESENT_CAVEAT_TEXT_H
#define HW_PRESENT_CAVEAT_TEXT_H

#include "present/json.h"
#include "present/units.h"
#include "session/caveats.h"
#include "tool/strbuf.h"

/* For a line under a label, in three columns. */
struct caveat_row {
    const char *label;      /* "culled"; "" = it has none */
    char figure[UNITS_MAX]; /* "1.2 MiB"; "" = none */
    char text[200];         /* with line feeds where it is best broken */
};

void caveat_text_fill(struct caveat_row *row, const struct caveat *c);
/* The figure and the text, in one line and without a subject: "12 events lost". */
void caveat_text_add_short(struct strbuf *out, const struct caveat *c);
/* A sentence about a subject ("before", "a.wake"), without the full stop at its end. */
void caveat_text_add(struct strbuf *out, const struct caveat *c, const char *subject);
/* "caveats": [{"kind", figures, "text"}]; docs/json.md. */
void caveat_text_json(struct json *j, const struct caveats *list);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * site_verdicts: verdicts for the sites of a report.
 */
#ifndef HW_SESSION_SITE_VERDICTS_H
#define HW_SESSION_SITE_VERDICTS_H

#include "analysis/trace.h"
#include "analysis/verdict.h"
#include "engine/result.h"
#include "session/session.h"
#include "tool/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is judged: an answer about these recordings.  Processes count through all of them, as in the traces. */
struct judged {
    struct session *session;
    struct ask *ask;
    struct traces *traces;
    const struct query_result *result;
};

/* Whether blocks of the process are its own and their times are of a clock: imports may have sums, or no times. */
bool site_verdicts_have_lives(const struct wake_process *p);
/* The verdicts on these traces; a trace may be named twice.  Of several stacks and processes that one
 * is judged which held most.  Where that takes a reading of the events and there are very many, it is
 * done only if somebody asked for it.  ERR_MEMORY, ERR_IO. */
int site_verdicts_find(const struct judged *d, struct verdicts *v, const uint32_t *traces, size_t count,
                       bool is_asked_for, struct err *err);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * diff_input: one of the recordings that are compared: its answer to a query, as
 * sites, with known leaks taken out.
 */
#ifndef HW_SESSION_DIFF_INPUT_H
#define HW_SESSION_DIFF_INPUT_H

#include "analysis/site.h"
#include "analysis/suppress.h"
#include "analysis/trace.h"
#include "engine/query.h"
#include "session/session.h"
#include "tool/err.h"

#include <stdbool.h>
#include <stddef.h>

struct diff_input {
    struct session *session;
    bool is_borrowed;           /* the session is another input's, which closes it */
    struct wake_reader *reader; /* the session's only recording */
    struct query_result result; /* processes count as in the traces */
    struct suppress suppress;
    struct sites sites;
};

void diff_input_init(struct diff_input *s);
/* Before the traces are released. */
void diff_input_release(struct diff_input *s);

/* What is asked from now on: a session of its own, which it closes, or that of another input. */
void diff_input_set_session(struct diff_input *s, struct session *session);
void diff_input_borrow(struct diff_input *s, const struct diff_input *from);

/* What is known of leaks.  Negative: the sentence is in err. */
int diff_input_suppress(struct diff_input *s, const char *const *paths, size_t count, bool built_in,
                        struct err *err);
/* Asks; several inputs may share the traces. */
int diff_input_read(struct diff_input *s, struct ask *ask, struct traces *c, const struct query *q,
                    struct err *err);

#endif

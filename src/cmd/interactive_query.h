/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * interactive_query: how commands put questions to a session: with progress on a terminal, and Ctrl-C that ends the
 * reading and not the command, unless it is pressed again and again.
 *
 *     interactive_query_begin(&i);
 *     interactive_query_open(&i, &session, paths, count, &err)     as often as needed
 *     interactive_query_run(&i, session, 0, &query, &result, &err)
 *     interactive_query_end(&i);
 *
 * One at a time in a process.
 */
#ifndef HW_CMD_INTERACTIVE_QUERY_H
#define HW_CMD_INTERACTIVE_QUERY_H

#include "cmd/progress.h"
#include "session/caveats.h"
#include "session/session.h"

#include <signal.h>

struct interactive_query {
    struct ask ask;
    struct progress progress;
    struct sigaction before;
    struct caveats told; /* of moments: each is said once */
};

void interactive_query_begin(struct interactive_query *i);
void interactive_query_end(struct interactive_query *i);

/* A recording without names gets them now, unless HEAPWAKE_SYMBOLS is 0. */
int interactive_query_open(struct interactive_query *i, struct session **s, const char *const *paths,
                           size_t count, struct err *err);
/* The same with options of the caller's: what is set here is added to them. */
int interactive_query_open_with(struct interactive_query *i, struct session **s, const char *const *paths,
                                size_t count, struct session_options options, struct err *err);

/* Says, once each, that a moment of an answered query lies behind the end of its recording, before its begin, or
 * where a full file has no events any more. */
void interactive_query_tell_moments(struct interactive_query *i, const struct query *query,
                                    const struct wake_reader *r, const struct query_result *result);
/* Says, once, where a later file of a series begins: what ("mapped") was done before is not in it.  Of others nothing. */
void interactive_query_tell_begin(struct interactive_query *i, const struct wake_reader *r, const char *what);
/* session_ask_one, and what there is to say of its moments. */
int interactive_query_run(struct interactive_query *i, struct session *s, size_t recording,
                          const struct query *query, struct query_result *result, struct err *err);

/* Says one on standard error. */
void interactive_query_say_caveat(const struct caveat *c, const char *subject);
/* Says on standard error what is wrong with a recording, if anything: to be
 * called when all that is wanted of it has been read. */
void interactive_query_warn(const struct wake_reader *r, const char *path);

/* Has Ctrl-C been pressed? */
bool interactive_query_is_interrupted(void);

#endif

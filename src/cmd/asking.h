/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * asking: how commands put questions to recordings: with names for addresses,
 * progress on a terminal, and Ctrl-C that ends the reading and not the command,
 * unless it is pressed again and again.
 *
 *     asking_begin(&a);
 *     r = asking_open(&a, path, &err);        as often as needed
 *     asking_run(&a, &query, r, &result, &err)
 *     asking_end(&a);
 *
 * One at a time in a process.
 */
#ifndef HW_CMD_ASKING_H
#define HW_CMD_ASKING_H

#include "cmd/progress.h"
#include "query/query.h"
#include "store/reader.h"
#include "tool/err.h"

#include <signal.h>

struct asking {
    struct progress progress;
    struct sigaction before;
    bool has_said_end;   /* that a moment lies behind it, or before the begin */
    bool has_said_limit; /* that one lies behind the last event of a full file */
    bool has_several;    /* recordings, each with its own clock: behind its end nothing of one is live */
};

void asking_begin(struct asking *a);
void asking_end(struct asking *a);

/* Opens a recording (or a spool).  One that nobody has put names into gets
 * them now, from the files that are here, unless HEAPWAKE_SYMBOLS is 0; its own file stays as it is.  NULL:
 * the sentence is in err, or was said already and err is empty. */
struct wake_reader *asking_open(struct asking *a, const char *path, struct err *err);
/* The same for parts of one series, in their order. */
struct wake_reader *asking_open_series(struct asking *a, const char *const *paths, size_t count,
                                       struct err *err);

/* The query of a command, with names, progress and interrupts; its lists and
 * texts stay the command's. */
void asking_prepare(struct asking *a, struct query *ready, const struct query *query, struct wake_reader *r);
/* Says, once each, that a moment of an answered query lies behind the end of its recording, before its begin, or where a full
 * file has no events any more. */
void asking_tell_moments(struct asking *a, const struct query *query, const struct wake_reader *r,
                         const struct query_result *result);
/* Says, once, where a later file of a series begins: what ("mapped") was done before is not in it.  Of others nothing. */
void asking_tell_begin(struct asking *a, const struct wake_reader *r, const char *what);
/* query_run with names, progress and interrupts, and what there is to say of its moments.  The query itself is not changed. */
int asking_run(struct asking *a, const struct query *query, struct wake_reader *r,
               struct query_result *result, struct err *err);

/* Says on standard error what is wrong with a recording, if anything: to be
 * called when all that is wanted of it has been read. */
void asking_warn(const struct wake_reader *r, const char *path);

/* Has Ctrl-C been pressed?  For those who read events themselves. */
bool asking_is_interrupted(void);

#endif

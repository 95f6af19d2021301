/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * where: the options by which every command takes the filters of a query:
 * --where KEY=VALUE, and --from, --to and --pid for short.
 */
#ifndef HW_CMD_WHERE_H
#define HW_CMD_WHERE_H

#include "cmd/options.h"
#include "engine/query.h"
#include "tool/err.h"
#include "tool/strbuf.h"

#include <stdbool.h>

/* What the shared options fill. */
struct where {
    struct query *query;
    struct query *other; /* gets the same conditions; may be NULL */
    struct strbuf *said; /* gets the words of each condition, a NUL behind each; may be NULL */
};

/* Options of report, diff and export, at a struct where. */
extern const struct option where_options[];
/* --leaks, --peak and so on, at an unsigned: bit n for enum measure n. */
extern const struct option where_measures[];

/* The lists are of what is live at the query's moment alone.  ERR_USAGE: a window is given, which that does not
 * depend on, and neither condition nor moment is about it.  has_end: the moment is the end of the window. */
int where_suits_moment(const struct query *q, bool has_end, struct err *err);
/* ERR_USAGE: it says what counts as temporary, and no list (has_list) and no condition asks for that. */
int where_suits_temporaries(const struct query *q, bool has_list, struct err *err);
/* One key, which an option of its own stands for.  ERR_USAGE: its value makes no sense, or it has one. */
int where_set(struct query *q, const char *key, const char *value, struct err *err);

#endif

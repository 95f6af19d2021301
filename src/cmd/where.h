/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * where: the options by which every command takes the filters of a query:
 * --where KEY=VALUE, and --from, --to and --pid for short.
 */
#ifndef HW_CMD_WHERE_H
#define HW_CMD_WHERE_H

#include "query/query.h"
#include "tool/err.h"
#include "tool/strbuf.h"

#include <stdbool.h>

/* Takes the option at argv[*at] if it is one of these; false: it is not.
 * err->code is set when its value makes no sense.  said: gets the words of a condition, a NUL behind each; may be NULL. */
bool where_take(struct query *q, char **argv, int *at, struct strbuf *said, struct err *err);
/* The lists are of what is live at the query's moment alone.  ERR_USAGE: a window is given, which that does not
 * depend on, and neither condition nor moment is about it.  has_end: the moment is the end of the window. */
int where_suits_moment(const struct query *q, bool has_end, struct err *err);
/* ERR_USAGE: it says what counts as temporary, and no list (has_list) and no condition asks for that. */
int where_suits_temporaries(const struct query *q, bool has_list, struct err *err);
/* One key, which an option of its own stands for.  ERR_USAGE: its value makes no sense, or it has one. */
int where_set(struct query *q, const char *key, const char *value, struct err *err);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * side: one recording that is held against another: its answer to a query, as
 * sites, with known leaks taken out.
 */
#ifndef HW_CMD_SIDE_H
#define HW_CMD_SIDE_H

#include "cmd/asking.h"
#include "query/query.h"
#include "query/site.h"
#include "query/suppress.h"
#include "query/trace.h"
#include "store/reader.h"
#include "tool/err.h"

#include <stdbool.h>
#include <stddef.h>

struct side {
    struct wake_reader *reader;
    bool is_asked_again;        /* its recording is that of another side too */
    bool is_borrowed;           /* the recording is another side's, who closes it */
    struct query_result result; /* processes count as in the traces */
    struct suppress suppress;
    struct sites sites;
};

void side_init(struct side *s);
/* Before the traces are released. */
void side_release(struct side *s);

/* The recording that another side has open. */
void side_borrow(struct side *s, const struct side *from);

/* What is known of leaks.  Negative: the sentence is in err. */
int side_suppress(struct side *s, const char *const *paths, size_t count, bool built_in, struct err *err);
/* Opens, unless it has borrowed, and asks; several sides may share the traces.  Negative: the sentence is in err, or was said already and err is
 * empty. */
int side_read(struct side *s, struct asking *a, struct traces *c, const struct query *q, const char *path,
              struct err *err);

#endif

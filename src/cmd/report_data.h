/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * report_data: everything that a report shows, gathered from its recordings:
 * the answer to the query, names, suppressed leaks, the figures of the head.
 */
#ifndef HW_CMD_REPORT_DATA_H
#define HW_CMD_REPORT_DATA_H

#include "analysis/missing_debuginfo.h"
#include "analysis/pool_totals.h"
#include "analysis/suppress.h"
#include "analysis/trace.h"
#include "cmd/interactive_query.h"
#include "cmd/report_options.h"
#include "engine/result.h"
#include "present/section_head.h"
#include "session/session.h"
#include "tool/map.h"
#include "tool/strbuf.h"
#include "tool/vec.h"

struct report_data {
    struct session *session;
    struct traces traces;
    struct query_result whole;  /* all that the recordings have: what the head is about */
    struct query_result result; /* what was asked for, sieved, suppressed leaks taken out */
    struct query_result since;  /* --since: the same for that moment */
    struct suppress suppress;
    struct pool_totals accounts; /* of pools */
    struct section_head head;
    struct interactive_query interactive;
    size_t recordings;                 /* of which some may be several files */
    struct missing_debuginfo nameless; /* files without lines */
    size_t chosen;                     /* --worst: which of the files; and what makes it the worst */
    uint64_t chosen_value;
};

/* Stacks of which something is left in an answer. */
struct report_kept {
    struct map pairs; /* process << 32 | stack */
    uint32_t base;    /* of the recording that is asked; 0 at first */
};

/* leaking: only those with leaks.  ERR_MEMORY; release in any case. */
int report_kept_init(struct report_kept *k, const struct query_result *r, bool leaking, struct err *err);
void report_kept_release(struct report_kept *k);
/* A query_stack_fn. */
bool report_kept_has(void *context, uint32_t process, uint32_t stack);

void report_data_init(struct report_data *d);
void report_data_release(struct report_data *d);
/* Opens and asks.  Negative: the sentence is in err, or was said already and err is empty. */
int report_data_read(struct report_data *d, const struct report_options *o, struct err *err);
/* When all has been read, also by those who read for themselves: says what is wrong with the recordings, and
 * the head knows it. */
void report_data_settle(struct report_data *d);

#endif

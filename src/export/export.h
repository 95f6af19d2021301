/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * export: recordings in the formats of other tools.  One file a format, one
 * line in the table of export.c.
 *
 * An exporter gets a job: what was asked, already answered (rows and traces),
 * and the reader for those that need every event.  It writes to job->out in one
 * go, without seeking, with memory by stacks and live blocks.  It never prints
 * and never opens files.
 */
#ifndef HW_EXPORT_EXPORT_H
#define HW_EXPORT_EXPORT_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "export/out.h"
#include "query/measure.h"
#include "query/query.h"
#include "query/result.h"
#include "query/site.h"
#include "query/trace.h"
#include "store/reader.h"
#include "tool/err.h"

struct export_job {
    struct wake_reader *reader;
    const struct query *query;         /* with names, progress and interrupt set */
    const struct query_result *result; /* its answer, with what the format wants */
    struct traces *traces;             /* process numbers are those of the reader */
    struct sites *sites;               /* of the result's rows; the exporter may sort them */
    struct out *out;
    struct strbuf *remarks; /* sentences for the user about this file; empty = none */
    enum measure measure;   /* that formats with EXPORT_MEASURE show */
};

enum export_option {
    EXPORT_EVENTS = 1,  /* reads every event: the query's filter must be applied to them */
    EXPORT_BINARY = 2,  /* not for a terminal */
    EXPORT_MEASURE = 4, /* shows one measure, job->measure */
};

struct export_format {
    const char *name;
    const char *suffix;  /* of the usual file name: "svg" */
    const char *summary; /* for whom: "flamegraph.pl and its kin" */
    const char *cannot;  /* a sentence about what it cannot carry; NULL = it carries all */
    unsigned options;    /* enum export_option */
    unsigned want;       /* enum query_want that its result needs */
    uint32_t ticks;      /* of the timeline that it needs; 0 = none */
    int (*run)(const struct export_job *job, struct err *err);
};

extern const struct export_format export_list[]; /* ends with a NULL name */

/* NULL: no such format. */
const struct export_format *export_find(const char *name);

int export_folded(const struct export_job *job, struct err *err);
int export_heaptrack(const struct export_job *job, struct err *err);
int export_flamegraph(const struct export_job *job, struct err *err);
int export_speedscope(const struct export_job *job, struct err *err);
int export_massif(const struct export_job *job, struct err *err);
int export_dhat(const struct export_job *job, struct err *err);
int export_callgrind(const struct export_job *job, struct err *err);
int export_json(const struct export_job *job, struct err *err);
int export_csv(const struct export_job *job, struct err *err);

#endif

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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/anonymize.h"
#include "analysis/site.h"
#include "analysis/suppress.h"
#include "analysis/trace.h"
#include "engine/measure.h"
#include "engine/query.h"
#include "engine/result.h"
#include "export/out.h"
#include "session/caveats.h"
#include "store/reader.h"
#include "tool/err.h"

struct export_job {
    struct wake_reader *reader;
    const struct query *query;         /* with names, progress and interrupt set */
    const struct query_result *result; /* its answer, with what the format wants, without suppressed leaks */
    struct traces *traces;             /* process numbers are those of the reader */
    struct sites *sites;               /* of the result's rows; the exporter may sort them */
    struct out *out;
    const struct strbuf *conditions; /* as they were given, a NUL behind each word; empty = none */
    struct strbuf *remarks;          /* sentences for the user about this file; empty = none */
    enum measure measure;            /* that formats with EXPORT_MEASURE show */
    const struct suppress *suppress; /* what leaks the result is without */
    struct anonymize *veil;          /* for names that come from the reader: frames have it already */
    const char *path;                /* EXPORT_FILE: an empty file to fill instead of `out`; else NULL */
    const char *name;                /* what that will be called */
    const char *interpreter;         /* a note about stacks of an interpreter; NULL: they are none */
};

enum export_option {
    EXPORT_EVENTS = 1,   /* reads every event: the query's filter must be applied to them */
    EXPORT_BINARY = 2,   /* not for a terminal */
    EXPORT_MEASURE = 4,  /* shows one measure, job->measure */
    EXPORT_FILE = 8,     /* made by a library that wants a file name: never to a pipe */
    EXPORT_BLOCKS = 32,  /* lists single blocks */
    EXPORT_ONE = 64,     /* holds one process: export/subject.h */
    EXPORT_MOMENT = 128, /* tells what is live at the query's moment */
    EXPORT_LEAKS = 256,  /* has sums of leaks beside other measures */
    EXPORT_DRAWN = 16,   /* what it writes is drawn by graphviz: the name is that of dot's -T */
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

/* What the result of a format has to be asked for, enum query_want.  One that holds a process has the peak of
 * what is in it: where blocks were left out of the events, that is not the peak of the totals. */
unsigned export_want(const struct export_format *format, const struct query *q, const struct wake_reader *r);
/* What the answer lacks, and the processes that the query is about. */
void export_find_caveats(const struct export_job *job, struct caveats *c);
/* Adds to the remarks what of the recording is not in a file of this format because it was left out of the
 * events, on purpose. */
void export_note_omissions(const struct export_job *job, const struct export_format *format);
/* Whether a file of this format, of this measure, has sums of leaks. */
bool export_has_leaks(const struct export_format *format, enum measure measure);
/* The title of a measure: "Leaked, without 75.0 KiB suppressed". */
void export_add_measure(const struct export_job *job, enum measure measure, struct strbuf *text);
/* Adds to the remarks how much of the leaks is suppressed. */
void export_note_suppressed(const struct export_job *job, const struct export_format *format);
/* Whether the query is about this process of the recording. */
bool export_has_process(const struct export_job *job, size_t process);
/* The command line of a process of the recording in one line, or what the veil leaves of it.
 * False: no memory. */
bool export_add_command(const struct export_job *job, size_t process, struct strbuf *text);
/* The same of the first process that the query is about; nothing where there is none. */
bool export_add_title(const struct export_job *job, struct strbuf *text);
/* The sentences that the recording has about itself, and job->interpreter, one after the other; under a veil only how many there are.
 * NULL: that was the last.  text: for those that are made up. */
const char *export_note(const struct export_job *job, size_t i, char text[WAKE_VEILED_NOTE]);
/* A text as a JSON string, quotes included. */
void export_add_string(struct out *out, const char *text);
/* What a frame without a name is called: the file and the place in it.  Else its function. */
const char *export_frame_name(const struct frame *f, char *text, size_t size);
/* The window, as far as there was a process in it. */
struct query_range export_window(const struct export_job *job);
/* The largest resident set in the window; 0 = not known. */
uint64_t export_peak_rss(const struct export_job *job);

int export_folded(const struct export_job *job, struct err *err);
int export_heaptrack(const struct export_job *job, struct err *err);
int export_flamegraph(const struct export_job *job, struct err *err);
int export_speedscope(const struct export_job *job, struct err *err);
int export_massif(const struct export_job *job, struct err *err);
int export_dhat(const struct export_job *job, struct err *err);
int export_callgrind(const struct export_job *job, struct err *err);
int export_json(const struct export_job *job, struct err *err);
int export_csv(const struct export_job *job, struct err *err);
int export_dot(const struct export_job *job, struct err *err);
int export_gprof2dot(const struct export_job *job, struct err *err);
int export_html(const struct export_job *job, struct err *err);
int export_perfetto(const struct export_job *job, struct err *err);
int export_pprof(const struct export_job *job, struct err *err);
int export_sqlite(const struct export_job *job, struct err *err);

#endif

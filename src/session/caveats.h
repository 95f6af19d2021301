/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * caveats: what a recording, or an answer made of it, lacks: data, of which present/caveat_text.h makes sentences.
 *
 *     struct caveats c = {0};
 *     caveats_of_reader(&c, reader);
 *     caveats_of_summary(&c, &summary);
 *     caveats_of_answer(&c, &c, &result, false);
 *     if ((one = caveats_find(&c, CAVEAT_LOST)) != NULL) ...
 *
 * There is at most one of each kind, so that nothing can fail.  What a recording has to say in words of its own are its
 * notes (wake_reader_note).
 */
#ifndef HW_SESSION_CAVEATS_H
#define HW_SESSION_CAVEATS_H

#include "engine/query.h"
#include "engine/result.h"
#include "session/summary.h"
#include "store/reader.h"

#include <stdbool.h>
#include <stdint.h>

enum caveat_kind {
    /* Of a recording. */
    CAVEAT_DAMAGED,    /* count: damages; text: the first, a sentence */
    CAVEAT_UNCLOSED,   /* count: recordings that are still being made, or were cut */
    CAVEAT_LOST,       /* count: events; is_unknown: what is missing cannot be counted */
    CAVEAT_UNRECORDED, /* count: processes that ran meanwhile */
    CAVEAT_OFF,        /* ns: for how long recording was switched off */
    CAVEAT_CUT_STACKS, /* count: stacks */
    CAVEAT_CULLED,     /* count, bytes: of blocks that lived shorter than ns; is_unknown: not counted yet */
    CAVEAT_SAMPLED,    /* count: samples; bytes: one in so many */
    CAVEAT_LIMITED,    /* count: events in the totals only; ns: when the file was full */
    CAVEAT_MADE_UP,    /* it was imported from sums */
    /* Of an answer. */
    CAVEAT_OMITTED,           /* count: blocks that have no events, of which the answer is made */
    CAVEAT_TIMELINE,          /* the same of its timeline; ns: when the file was full, 0 = it was not;
                               * because CAVEAT_CULLED: some were culled */
    CAVEAT_RELEASES,          /* count: releases without a stack, which was asked for */
    CAVEAT_TEMPORARY,         /* which blocks are temporary is not known, because ... */
    CAVEAT_LEAKED,            /* which blocks leak is not known, because ... */
    CAVEAT_MOMENT_AFTER_END,  /* ns: the end, which was taken for the moment */
    CAVEAT_MOMENT_BEFORE,     /* ns: where this file of a series begins; text: what is not in it: "live" */
    CAVEAT_MOMENT_AFTER_FULL, /* ns: when the file was full */
    CAVEAT_INTERRUPTED, /* ns: up to when events were read; is_unknown: the lists are not about a time */
    CAVEAT_COUNT
};

struct caveat {
    enum caveat_kind kind;
    enum caveat_kind because; /* CAVEAT_COUNT: it has no reason among these */
    uint64_t count, bytes, ns;
    bool is_sampled; /* samples are counted, not blocks */
    bool is_unknown; /* there is no count */
    const char *text;
};

/* All zero: there are none. */
struct caveats {
    struct caveat of[CAVEAT_COUNT];
    bool has[CAVEAT_COUNT];
};

/* NULL: there is none. */
const struct caveat *caveats_find(const struct caveats *c, enum caveat_kind kind);
/* Its count; 0 where there is none. */
uint64_t caveats_count(const struct caveats *c, enum caveat_kind kind);
/* In the place of one of the same kind. */
void caveats_add(struct caveats *c, struct caveat one);
/* Adds those of kinds that are not there yet. */
void caveats_join(struct caveats *c, const struct caveats *more);

/* What is wrong with the file, as far as it has been read.  Adds up over files; texts are the reader's. */
void caveats_of_reader(struct caveats *c, const struct wake_reader *r);
void caveats_of_summary(struct caveats *c, const struct summary *s);
/* Of figures and lists; recording: those of what was asked, which give reasons.  is_about_moments: only what is live
 * at moments is shown, in which blocks that came later have no part. */
void caveats_of_answer(struct caveats *c, const struct caveats *recording, const struct query_result *r,
                       bool is_about_moments);
/* An answer lacks at least so many blocks. */
void caveats_add_omitted(struct caveats *c, const struct caveats *recording, uint64_t blocks);
/* Of the moments of a question, put to one recording. */
void caveats_of_moments(struct caveats *c, const struct query *q, const struct query_result *result,
                        const struct wake_reader *r);
/* That a file is a later one of a series, in which nothing is of what was "mapped" before it.  Of others nothing. */
void caveats_of_series(struct caveats *c, const struct wake_reader *r, const char *what);
/* Of an answer whose reading was interrupted. */
struct caveat caveats_interruption(const struct query_result *r);

#endif

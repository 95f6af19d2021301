/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * memo: what questions to an open recording leave behind for the next ones.
 *
 *     memo_attach(reader, MEMO_FEW, NULL, &err)   once, by whoever will ask several questions
 *     query_run(&q, reader, ...)                  as always
 *
 * The first question that has to read the events of a process makes stages of them (query/stage.h), so that
 * another window, another moment, another timeline or other stacks need few events or none.  Where many are to
 * come the first about single blocks makes a ledger (query/ledger.h), from which others about single blocks,
 * medians, histograms and splits are answered.  The latest answers are kept too (query/kept.h).  Answers are the
 * same as without.
 *
 * Memory, for each process: 32 MiB, three times what live blocks take and once or twice what rows take for stages,
 * 4 bytes an event for its trail, 14 for its ledger, 4 more once addresses are asked for and up to 7 more once realloc chains are, and a few answers, whose
 * rows are stacks.  There is no trail where there are more than 24 million events and few questions to come, or more than 64 million
 * and many, nor where it would take more than a sixteenth of the machine's memory.  There is no ledger where there are
 * more than 64 million events, nor where most of half as many have a time of their own, nor where it would take more than an eighth of the
 * machine's memory, without addresses and chains.
 */
#ifndef HW_QUERY_MEMO_H
#define HW_QUERY_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/kept.h"
#include "query/ledger.h"
#include "query/stage.h"
#include "store/reader.h"
#include "tool/err.h"

/* A process as it is remembered. */
struct memo_process {
    struct stages stages;
    bool has_stages;
    bool is_odd; /* stages cannot be made of it */
    struct ledger ledger;
    bool has_ledger;
    bool has_no_ledger; /* and cannot have one */
};

/* How many are to come: with a few only what the first one leaves on its way pays. */
enum memo_questions { MEMO_FEW, MEMO_MANY };

struct memo {
    struct memo_process *processes; /* as many as the recording has */
    size_t count;
    enum memo_questions questions;
    struct stage_limits limits;
    struct kept kept;
};

/* Remembers from now on; forgets what was remembered before.  limits: NULL = the usual.  ERR_MEMORY. */
int memo_attach(struct wake_reader *reader, enum memo_questions questions, const struct stage_limits *limits,
                struct err *err);
/* NULL: nobody has attached one. */
struct memo *memo_of(const struct wake_reader *reader);
/* Stages that were not finished, or of which another kind is wanted. */
void memo_forget_stages(struct memo_process *p);
/* A ledger that was not finished. */
void memo_forget_ledger(struct memo_process *p);

#endif

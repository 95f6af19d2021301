/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * memo: what questions to an open recording leave behind for the next ones.
 *
 *     memo_attach(reader, NULL, &err)   once, by whoever keeps a recording open for many questions
 *     query_run(&q, reader, ...)        as always
 *
 * The first question about single blocks makes a ledger (query/ledger.h), from which others are answered without
 * reading events.  Answers are the same as without.
 *
 * Memory, for each process: 14 bytes an event, 4 more once addresses are asked for and up to 7 more once realloc chains are.  There is no
 * ledger where there are more than 64 million events, nor where most of half as many have a time of their own, nor where it would take more than an eighth of the
 * machine's memory, without addresses and chains.
 */
#ifndef HW_QUERY_MEMO_H
#define HW_QUERY_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/ledger.h"
#include "store/reader.h"
#include "tool/err.h"

/* A process as it is remembered. */
struct memo_process {
    struct ledger ledger;
    bool has_ledger;
    bool has_no_ledger; /* and cannot have one */
};

struct memo {
    struct memo_process *processes; /* as many as the recording has */
    size_t count;
    struct ledger_limits limits;
};

/* Remembers from now on; forgets what was remembered before.  limits: NULL = the usual.  ERR_MEMORY. */
int memo_attach(struct wake_reader *reader, const struct ledger_limits *limits, struct err *err);
/* NULL: nobody has attached one. */
struct memo *memo_of(const struct wake_reader *reader);
/* A ledger that was not finished. */
void memo_forget_ledger(struct memo_process *p);

#endif

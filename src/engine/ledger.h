/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ledger: what is kept of a recording that stays open, so that second questions are fast.
 *
 *     ledger_attach(reader, NULL, &err)   once, by whoever keeps a recording open for many questions
 *     query_run(&q, reader, ...)          as always, from any thread
 *
 * Two layers for each process, made by one reading of its events in the background and usable while they grow:
 *
 *     checkpoints   borders from which a scan can start (engine/checkpoint.h), for recordings of any length
 *     entries       every event in 18 bytes (engine/entries.h), as many as the budget has room for
 *
 * A question is answered from entries where these know what is asked, else by a scan from the latest checkpoint before its
 * window, else by a scan.  Answers are the same as without a ledger.
 *
 * A thread of its own makes the ledger.  It takes the write lock of a process for a batch of events at a time; whoever
 * answers from the ledger holds the read lock until the answer is there.
 */
#ifndef HW_ENGINE_LEDGER_H
#define HW_ENGINE_LEDGER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/checkpoint.h"
#include "engine/entries.h"
#include "store/reader.h"
#include "tool/err.h"

/* 0 in any of them: the usual. */
struct ledger_limits {
    uint64_t entry_bytes;      /* for all entries: an eighth of the machine's memory, 1280 MiB at most */
    uint64_t checkpoint_bytes; /* for checkpoints of a process: a 64th, 128 MiB at most */
    uint64_t events_apart;     /* between two checkpoints, at least */
    size_t part_count;         /* of entries that are counted at once (engine/crew.h), at most */
    size_t part_entries;       /* in each, at least */
};

struct ledger_process {
    pthread_rwlock_t lock;
    struct checkpoints checkpoints;
    struct entries entries;
};

struct ledger {
    struct wake_reader *reader;
    struct ledger_process *processes; /* as many as the recording has */
    size_t count;
    struct ledger_limits limits;

    pthread_t builder;
    bool has_builder;
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t changed;
    bool is_stopped; /* nobody needs it any more */
    bool stands;     /* all that can be is there */
};

/* Makes a ledger from now on; forgets what was kept before.  It goes when the reader is closed.  limits: NULL = the usual.
 * ERR_MEMORY. */
int ledger_attach(struct wake_reader *reader, const struct ledger_limits *limits, struct err *err);
/* NULL: there is none. */
struct ledger *ledger_of(const struct wake_reader *reader);
/* Returns when the ledger stands. */
void ledger_wait(struct ledger *l);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * memo: see memo.h.
 */
#include "query/memo.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/memory.h"

/* There is no trail where there are more events, nor a ledger. */
#define MEMO_EVENTS_FEW (UINT64_C(24) << 20)
#define MEMO_EVENTS_MANY (UINT64_C(64) << 20)

enum { MEMO_TRAIL_PART = 16, MEMO_LEDGER_PART = 8 }; /* of the machine's memory */

static void memo_free(void *memo)
{
    struct memo *m = memo;
    for (size_t i = 0; i < m->count; i++) {
        stages_release(&m->processes[i].stages);
        ledger_release(&m->processes[i].ledger);
    }
    kept_release(&m->kept);
    free(m->processes);
    free(m);
}

/* A part of the machine's memory, or `most` if that is less. */
static uint64_t memo_share(unsigned part, uint64_t most)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t share = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / part : most;
    return share < most ? share : most;
}

/* What a trail and a ledger may take, where nothing was said of it. */
static void memo_limit(struct stage_limits *l, enum memo_questions questions)
{
    uint64_t words = questions == MEMO_MANY ? MEMO_EVENTS_MANY : MEMO_EVENTS_FEW;
    if (l->trail_words == 0)
        l->trail_words = memo_share(MEMO_TRAIL_PART, words * sizeof(uint32_t)) / sizeof(uint32_t);
    if (l->ledger_bytes == 0)
        l->ledger_bytes = memo_share(MEMO_LEDGER_PART, MEMO_EVENTS_MANY * LEDGER_ENTRY_BYTES);
}

int memo_attach(struct wake_reader *reader, enum memo_questions questions, const struct stage_limits *limits,
                struct err *err)
{
    struct memo *m = memory_new_zeroed(1, sizeof *m);
    size_t count = wake_reader_process_count(reader);
    if (m == NULL || (m->processes = memory_new_zeroed(count + 1, sizeof *m->processes)) == NULL) {
        free(m);
        return err_set(err, ERR_MEMORY, "There is no memory for an index of the recording.");
    }
    m->count = count;
    m->questions = questions;
    if (limits != NULL)
        m->limits = *limits;
    memo_limit(&m->limits, questions);
    kept_init(&m->kept);
    wake_reader_attach(reader, m, memo_free);
    return 0;
}

struct memo *memo_of(const struct wake_reader *reader)
{
    return wake_reader_attached(reader);
}

void memo_forget_stages(struct memo_process *p)
{
    stages_release(&p->stages);
    memset(&p->stages, 0, sizeof p->stages);
    p->has_stages = p->is_odd = false;
}

void memo_forget_ledger(struct memo_process *p)
{
    ledger_release(&p->ledger);
    p->has_ledger = false;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * memo: see memo.h.
 */
#include "query/memo.h"

#include <stdlib.h>
#include <unistd.h>

#include "tool/memory.h"

/* There is no ledger where there are more events. */
#define MEMO_EVENTS (UINT64_C(64) << 20)

enum { MEMO_LEDGER_PART = 8 }; /* of the machine's memory */

static void memo_free(void *memo)
{
    struct memo *m = memo;
    for (size_t i = 0; i < m->count; i++)
        ledger_release(&m->processes[i].ledger);
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

int memo_attach(struct wake_reader *reader, const struct ledger_limits *limits, struct err *err)
{
    struct memo *m = memory_new_zeroed(1, sizeof *m);
    size_t count = wake_reader_process_count(reader);
    if (m == NULL || (m->processes = memory_new_zeroed(count + 1, sizeof *m->processes)) == NULL) {
        free(m);
        return err_set(err, ERR_MEMORY, "There is no memory for an index of the recording.");
    }
    m->count = count;
    if (limits != NULL)
        m->limits = *limits;
    if (m->limits.bytes == 0)
        m->limits.bytes = memo_share(MEMO_LEDGER_PART, MEMO_EVENTS * LEDGER_ENTRY_BYTES);
    wake_reader_attach(reader, m, memo_free);
    return 0;
}

struct memo *memo_of(const struct wake_reader *reader)
{
    return wake_reader_attached(reader);
}

void memo_forget_ledger(struct memo_process *p)
{
    ledger_release(&p->ledger);
    p->has_ledger = false;
}

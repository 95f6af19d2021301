/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * memo: see memo.h.
 */
#include "query/memo.h"

#include <stdlib.h>
#include <string.h>

#include "tool/memory.h"

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

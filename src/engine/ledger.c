/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ledger: see ledger.h.
 */
#include "engine/ledger.h"

#include <stdlib.h>
#include <unistd.h>

#include "engine/watch.h"
#include "engine/when.h"
#include "tool/memory.h"
#include "tool/worker.h"

enum {
    LEDGER_ENTRY_PART = 8, /* of the machine's memory, and the next */
    LEDGER_CHECKPOINT_PART = 64,
    LEDGER_PUBLISHED = 32, /* times that entries are published while they grow, if there are no checkpoints */
};
#define LEDGER_ENTRY_BYTES (UINT64_C(1280) << 20)
#define LEDGER_CHECKPOINT_BYTES (UINT64_C(128) << 20)

/* ------------------------------------------------------------------- building */

struct ledger_build {
    struct ledger *ledger;
    struct ledger_process *process;
    struct checkpoint_builder *checkpoints; /* NULL: no more, this and the next */
    struct entries_builder *entries;
    uint64_t since; /* events since entries were published */
    uint64_t apart;
};

static bool ledger_is_stopped(struct ledger *l)
{
    pthread_mutex_lock(&l->lock);
    bool is_stopped = l->is_stopped;
    pthread_mutex_unlock(&l->lock);
    return is_stopped;
}

static int ledger_take(const struct wake_block *b, void *context)
{
    struct ledger_build *m = context;
    pthread_rwlock_wrlock(&m->process->lock);
    if (m->checkpoints != NULL && !checkpoints_take(m->checkpoints, b)) {
        checkpoint_builder_free(m->checkpoints);
        m->checkpoints = NULL;
    }
    bool goes_on = m->entries != NULL && entries_take(m->entries, b);
    m->since += b->count;
    if (m->entries != NULL && (m->since >= m->apart || !goes_on)) {
        entries_publish(m->entries);
        m->since = 0;
    }
    if (m->entries != NULL && !goes_on) {
        entries_builder_free(m->entries);
        m->entries = NULL;
    }
    pthread_rwlock_unlock(&m->process->lock);
    bool has_more = m->checkpoints != NULL || m->entries != NULL;
    return !has_more || ledger_is_stopped(m->ledger) ? WATCH_STOP : 0;
}

/* Of samples, and of what earlier files have made, entries do not know what is asked. */
static bool ledger_may_have_entries(const struct wake_process *p)
{
    return p->omitted.sample_rate == 0 && p->carried.count == 0;
}

/* budget: bytes that entries may still take. */
static void ledger_build_process(struct ledger *l, uint32_t process, const struct query *q,
                                 const struct when *w, uint64_t *budget)
{
    const struct wake_process *p = wake_reader_process(l->reader, process);
    struct ledger_build m = {
        .ledger = l, .process = &l->processes[process], .apart = p->events / LEDGER_PUBLISHED};
    struct filter filter;
    struct err err;
    if (p->events == 0)
        return;
    if (filter_init(&filter, q, w, l->reader, process, &err) == 0) {
        pthread_rwlock_wrlock(&m.process->lock);
        m.checkpoints = checkpoints_build(&m.process->checkpoints, l->limits.checkpoint_bytes,
                                          l->limits.events_apart, l->reader, process);
        if (ledger_may_have_entries(p))
            m.entries = entries_begin(&m.process->entries, *budget, &filter, l->reader, process);
        *budget -= m.entries == NULL ? 0 : m.process->entries.capacity * ENTRIES_ENTRY_BYTES;
        pthread_rwlock_unlock(&m.process->lock);
        int code = wake_reader_visit_columns(l->reader, process, 0, UINT64_MAX,
                                             CHECKPOINT_COLUMNS | ENTRIES_COLUMNS, ledger_take, &m, &err);
        pthread_rwlock_wrlock(&m.process->lock);
        if (m.entries != NULL && code == 0)
            entries_finish(m.entries);
        pthread_rwlock_unlock(&m.process->lock);
    }
    checkpoint_builder_free(m.checkpoints);
    entries_builder_free(m.entries);
    filter_release(&filter);
}

static void *ledger_run(void *context)
{
    struct ledger *l = context;
    uint64_t budget = l->limits.entry_bytes;
    struct query q;
    struct when when;
    struct err err;
    query_init(&q);
    if (when_resolve(&when, &q, l->reader, &err) == 0)
        for (uint32_t i = 0; i < l->count && !ledger_is_stopped(l); i++)
            ledger_build_process(l, i, &q, &when, &budget);
    when_release(&when);
    query_release(&q);
    pthread_mutex_lock(&l->lock);
    l->stands = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* -------------------------------------------------------------------- attached */

static void ledger_free(void *ledger)
{
    struct ledger *l = ledger;
    pthread_mutex_lock(&l->lock);
    l->is_stopped = true;
    pthread_mutex_unlock(&l->lock);
    if (l->has_builder)
        pthread_join(l->builder, NULL);
    for (size_t i = 0; i < l->count; i++) {
        checkpoints_release(&l->processes[i].checkpoints);
        entries_release(&l->processes[i].entries);
        pthread_rwlock_destroy(&l->processes[i].lock);
    }
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    free(l->processes);
    free(l);
}

/* A part of the machine's memory, or `most` if that is less. */
static uint64_t ledger_share(unsigned part, uint64_t most)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t share = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / part : most;
    return share < most ? share : most;
}

int ledger_attach(struct wake_reader *reader, const struct ledger_limits *limits, struct err *err)
{
    struct ledger *l = memory_new_zeroed(1, sizeof *l);
    size_t count = wake_reader_process_count(reader);
    if (l == NULL || (l->processes = memory_new_zeroed(count + 1, sizeof *l->processes)) == NULL) {
        free(l);
        return err_no_memory(err);
    }
    l->reader = reader;
    l->count = count;
    if (limits != NULL)
        l->limits = *limits;
    if (l->limits.entry_bytes == 0)
        l->limits.entry_bytes = ledger_share(LEDGER_ENTRY_PART, LEDGER_ENTRY_BYTES);
    if (l->limits.checkpoint_bytes == 0)
        l->limits.checkpoint_bytes = ledger_share(LEDGER_CHECKPOINT_PART, LEDGER_CHECKPOINT_BYTES);
    for (size_t i = 0; i < count; i++)
        pthread_rwlock_init(&l->processes[i].lock, NULL);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    wake_reader_attach(reader, l, ledger_free);
    l->has_builder = worker_start(&l->builder, ledger_run, l);
    if (!l->has_builder) /* there is no thread to be had: it stays empty */
        l->stands = true;
    return 0;
}

struct ledger *ledger_of(const struct wake_reader *reader)
{
    return wake_reader_attached(reader);
}

void ledger_wait(struct ledger *l)
{
    pthread_mutex_lock(&l->lock);
    while (!l->stands)
        pthread_cond_wait(&l->changed, &l->lock);
    pthread_mutex_unlock(&l->lock);
}

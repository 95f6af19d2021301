/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * event_source: see event_source.h.
 *
 *     chunks     0  1  2 | 3  4  5  6 | 7 ...
 *                        |  ^  ^  ^   |
 *                     next  |  decoded or being decoded by a worker: a slot each
 *                           the caller's
 *
 * A chunk can be decoded alone (store/stream.c), so workers take the next ones while the caller goes through the one
 * before.  Where the caller comes to a chunk that no worker has begun it decodes that itself, batch by batch: so with few
 * CPUs all of them decode, and without threads everything is as if there were none.
 *
 * Time never decreases within a process, so the chunks of a window are neighbours, and a batch is trimmed at its two
 * ends only.
 *
 * Invariants
 *  1. Chunks are taken in order, each once, under the lock.  Chunk i is in slot i % slot_count, and is not taken before
 *     chunk i - slot_count has been given out.
 *  2. What is damaged is noted by the caller's thread alone, in the order of chunks.
 *  3. A worker touches nothing of the reader but what is read-only.
 */
#include "store/event_source.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "store/chunk_decoder.h"
#include "store/recording.h"
#include "tool/memory.h"
#include "tool/worker.h"

enum {
    SOURCE_WORKERS = 15,        /* at most */
    SOURCE_EVENTS = 128 << 10,  /* with fewer in all no worker pays */
    SOURCE_CHUNK_MAX = 1 << 20, /* events: the caller decodes larger chunks himself */
    SOURCE_ENDED = 2,           /* what source_decode gives when there are no more batches in the chunk */
};

/* The arrays of a batch, and where its matching allocations are. */
struct source_batch {
    struct chunk_decoder_arrays *arrays;
    uint16_t *matching; /* NULL where all match */
    struct wake_block block;
};

/* What one thread decodes with. */
struct decoder {
    struct chunk_scratch scratch;
    struct chunk_decoder replay;
    const struct index_entry *entry;
    bool is_whole; /* the chunk lies in the window as a whole */
};

/* A chunk that a worker decodes. */
struct source_slot {
    VEC(struct source_batch) batches; /* `count` of them are used */
    size_t count;
    int code;
    struct chunk_fault fault;
    bool is_ready;
    bool is_left; /* to the caller: it is too large */
};

struct event_source {
    struct wake_reader *reader;
    struct event_request request;
    VEC(const struct index_entry *) chunks;
    size_t earlier; /* blocks given out so far */
    struct event_columns *columns;

    pthread_mutex_t lock; /* of all that follows up to `threads` */
    pthread_cond_t changed;
    size_t taken;  /* chunks before this one are taken */
    size_t given;  /* those before this one have been given out */
    bool is_ended; /* nobody wants more */
    struct source_slot *slots;
    size_t slot_count;
    pthread_t threads[SOURCE_WORKERS];
    size_t thread_count;

    /* The caller's: */
    struct decoder decoder;
    struct source_batch batch;
    enum { SOURCE_BETWEEN, SOURCE_DECODING, SOURCE_IN_SLOT } state;
    size_t next_batch; /* of the slot */
};

/* --------------------------------------------------------------------- window */

/* Keeps the indices first..end-1 of a list, counted from `first`.  How many these are. */
static uint32_t source_trim_list(uint16_t *list, uint32_t count, uint32_t first, uint32_t end)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (list[i] >= first && list[i] < end)
            list[kept++] = (uint16_t)(list[i] - first);
    return kept;
}

/* The lists are shortened where they stand: nobody looks at the rest again. */
static void source_trim(const struct event_request *q, struct source_batch *batch)
{
    struct wake_block *b = &batch->block;
    uint32_t first = (uint32_t)sorted_below(b->time_ns, b->count, q->from_ns);
    uint32_t end = (uint32_t)sorted_up_to(b->time_ns, b->count, q->to_ns);
    if (first == 0 && end == b->count)
        return;
    end = end > first ? end : first;
    b->count = end - first;
    b->alloc_count = source_trim_list(batch->arrays->alloc_at, b->alloc_count, first, end);
    b->free_count = source_trim_list(batch->arrays->free_at, b->free_count, first, end);
    b->first_event += first;
    b->event += first;
    b->detail += first;
    b->time_ns += first;
    b->thread += first;
    b->stack += first;
    b->address += first;
    b->size += first;
    b->usable += first;
    b->number += first;
    b->previous += first;
    b->arena += first;
}

/* ------------------------------------------------------------------- decoding */

/* False: no memory. */
static bool source_reserve(const struct event_source *s, struct source_batch *batch)
{
    bool matches = s->request.match != NULL;
    if (batch->arrays == NULL)
        batch->arrays = chunk_decoder_arrays_new();
    if (matches && batch->matching == NULL)
        batch->matching = memory_new(WAKE_BLOCK_MAX * sizeof *batch->matching);
    return batch->arrays != NULL && (!matches || batch->matching != NULL);
}

static void source_match(const struct event_request *q, struct wake_block *b, uint16_t *matching)
{
    b->match_at = q->match != NULL ? matching : b->alloc_at;
    b->match_count = q->match != NULL ? q->match(q->match_of, b, matching) : b->alloc_count;
}

/* A chunk is about to be decoded.  0, ERR_MEMORY, ERR_INPUT. */
static int source_begin(const struct event_source *s, struct decoder *d, const struct index_entry *e,
                        struct chunk_fault *fault)
{
    const struct event_request *q = &s->request;
    struct payload payload;
    d->entry = e;
    d->is_whole = e->events.first_ns >= q->from_ns && e->events.last_ns <= q->to_ns;
    int code = recording_load(s->reader, &d->scratch, e, &payload, fault);
    if (code == 0)
        code = chunk_decoder_open(&d->replay, &d->scratch.codec, e->process,
                                  d->is_whole ? q->columns : q->columns | WAKE_TIME, payload.bytes,
                                  payload.length);
    return code == 0 && d->replay.prelude.first_event != e->events.first_event ? ERR_INPUT : code;
}

/* The next batch that has events in the window.  0, SOURCE_ENDED, ERR_MEMORY. */
static int source_decode(const struct event_source *s, struct decoder *d, struct source_batch *batch)
{
    do {
        if (!source_reserve(s, batch))
            return ERR_MEMORY;
        d->replay.arrays = batch->arrays;
        if (!chunk_decoder_next(&d->replay))
            return SOURCE_ENDED;
        batch->block = d->replay.block;
        if (!d->is_whole)
            source_trim(&s->request, batch);
    } while (batch->block.count == 0);
    source_match(&s->request, &batch->block, batch->matching);
    return 0;
}

/* What became of a chunk.  0 or ERR_MEMORY. */
static int source_note(struct event_source *s, const struct index_entry *e, int code,
                       const struct chunk_fault *fault)
{
    if (code == ERR_MEMORY)
        return code;
    recording_watch(s->reader, FORMAT_CHUNK_HEADER_SIZE + (size_t)e->stored);
    if (code == ERR_INPUT && fault->text[0] != '\0')
        recording_damage(s->reader, e->offset, "%s", fault->text);
    else if (code == ERR_INPUT)
        recording_damage(s->reader, e->offset,
                         "The events chunk at byte %llu contradicts itself; part of it is left out.",
                         (unsigned long long)e->offset);
    return 0;
}

/* -------------------------------------------------------------------- workers */

static void source_fill(const struct event_source *s, struct decoder *d, const struct index_entry *e,
                        struct source_slot *slot)
{
    slot->count = 0;
    slot->is_left = e->events.events > SOURCE_CHUNK_MAX;
    if (slot->is_left)
        return;
    slot->code = source_begin(s, d, e, &slot->fault);
    while (slot->code == 0) {
        if (slot->count == slot->batches.count && !vec_push(&slot->batches, (struct source_batch){0}))
            slot->code = ERR_MEMORY;
        else
            slot->code = source_decode(s, d, &slot->batches.data[slot->count]);
        slot->count += slot->code == 0;
    }
    if (slot->code == SOURCE_ENDED)
        slot->code = d->replay.bad ? ERR_INPUT : 0;
}

static void *source_work(void *context)
{
    struct event_source *s = context;
    struct decoder d = {0};
    chunk_decoder_init(&d.replay);
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->is_ended && s->taken < s->chunks.count && s->taken >= s->given + s->slot_count)
            pthread_cond_wait(&s->changed, &s->lock);
        if (s->is_ended || s->taken >= s->chunks.count)
            break;
        size_t chunk = s->taken++;
        struct source_slot *slot = &s->slots[chunk % s->slot_count];
        pthread_mutex_unlock(&s->lock);
        source_fill(s, &d, s->chunks.data[chunk], slot);
        pthread_mutex_lock(&s->lock);
        slot->is_ready = true;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    chunk_decoder_release(&d.replay);
    chunk_scratch_release(&d.scratch);
    return NULL;
}

/* As many as pay, and can be had. */
static void source_start(struct event_source *s)
{
    uint64_t events = 0;
    size_t wanted = s->reader->threads != 0 ? s->reader->threads - 1 : worker_cpus() - 1;
    for (size_t i = 0; i < s->chunks.count; i++)
        events += s->chunks.data[i]->events.events;
    wanted = wanted < SOURCE_WORKERS ? wanted : SOURCE_WORKERS;
    wanted = wanted + 1 < s->chunks.count ? wanted : s->chunks.count - (s->chunks.count > 0);
    if (wanted == 0 || (s->reader->threads == 0 && events < SOURCE_EVENTS))
        return;
    /* One more than there are workers: who has finished a chunk goes on while it is waited for. */
    s->slots = memory_new_zeroed(wanted + 1, sizeof *s->slots);
    s->slot_count = s->slots == NULL ? 0 : wanted + 1;
    while (s->slot_count != 0 && s->thread_count < wanted &&
           worker_start(&s->threads[s->thread_count], source_work, s))
        s->thread_count++;
}

/* -------------------------------------------------------------------- the caller */

/* Blocks that earlier files have made: of no known kind, at the time when the file began. */
static uint32_t source_fill_carried(const void *of, size_t *at, struct event_columns *c)
{
    const struct wake_process *p = of;
    uint32_t i = 0;
    for (; *at < p->carried.count && i < WAKE_BLOCK_MAX; ++*at, i++) {
        const struct wake_live_block *b = &p->carried.data[*at];
        c->time_ns[i] = p->carried_ns;
        c->stack[i] = b->stack;
        c->address[i] = b->address;
        c->size[i] = c->usable[i] = b->size;
        c->number[i] = b->allocation;
    }
    return i;
}

/* 1: here are some blocks; 0: there are no more; ERR_MEMORY. */
static int source_give_earlier(struct event_source *s, struct wake_block *block)
{
    if (s->columns == NULL)
        s->columns = memory_new_zeroed(1, sizeof *s->columns);
    struct event_columns *c = s->columns;
    if (c == NULL)
        return ERR_MEMORY;
    uint32_t count = s->request.earlier(s->request.earlier_of, &s->earlier, c);
    for (uint32_t i = 0; i < count; i++) {
        c->event[i] = WAKE_ALLOC;
        c->alloc_at[i] = (uint16_t)i;
    }
    *block = (struct wake_block){.process = (uint32_t)s->request.process,
                                 .count = count,
                                 .is_carried = true,
                                 .has_previous = true,
                                 .event = c->event,
                                 .detail = c->detail,
                                 .time_ns = c->time_ns,
                                 .thread = c->thread,
                                 .stack = c->stack,
                                 .address = c->address,
                                 .size = c->size,
                                 .usable = c->usable,
                                 .number = c->number,
                                 .previous = c->previous,
                                 .arena = c->arena,
                                 .alloc_at = c->alloc_at,
                                 .free_at = c->alloc_at,
                                 .alloc_count = count};
    source_match(&s->request, block, c->matching);
    return count > 0;
}

/* The chunk that is next is the caller's: takes it, or waits for the worker that has.  False: there are no more. */
static bool source_take(struct event_source *s)
{
    pthread_mutex_lock(&s->lock);
    bool has_more = s->given < s->chunks.count;
    struct source_slot *slot = s->slot_count == 0 ? NULL : &s->slots[s->given % s->slot_count];
    s->state = SOURCE_DECODING;
    if (has_more && s->taken == s->given) {
        s->taken++;
    } else if (has_more) {
        while (!slot->is_ready)
            pthread_cond_wait(&s->changed, &s->lock);
        s->state = slot->is_left ? SOURCE_DECODING : SOURCE_IN_SLOT;
    }
    pthread_mutex_unlock(&s->lock);
    return has_more;
}

/* The chunk has been given out. */
static void source_leave(struct event_source *s)
{
    pthread_mutex_lock(&s->lock);
    if (s->slot_count != 0)
        s->slots[s->given % s->slot_count].is_ready = false;
    s->given++;
    s->state = SOURCE_BETWEEN;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static int source_next_of_slot(struct event_source *s, struct wake_block *batch)
{
    const struct index_entry *e = s->chunks.data[s->given];
    struct source_slot *slot = &s->slots[s->given % s->slot_count];
    if (s->next_batch < slot->count) {
        *batch = slot->batches.data[s->next_batch++].block;
        return 1;
    }
    int code = source_note(s, e, slot->code, &slot->fault);
    source_leave(s);
    return code;
}

/* Of the chunk that the caller decodes.  1, 0: there are no more in it, or ERR_MEMORY. */
static int source_next_decoded(struct event_source *s, struct wake_block *batch)
{
    int code = source_decode(s, &s->decoder, &s->batch);
    if (code == 0) {
        *batch = s->batch.block;
        return 1;
    }
    if (code == SOURCE_ENDED) {
        const struct chunk_fault none = {0};
        code = source_note(s, s->decoder.entry, s->decoder.replay.bad ? ERR_INPUT : 0, &none);
        source_leave(s);
    }
    return code;
}

/* A chunk begins.  0 or ERR_MEMORY. */
static int source_enter(struct event_source *s)
{
    struct chunk_fault fault;
    const struct index_entry *e = s->chunks.data[s->given];
    s->next_batch = 0;
    if (s->state == SOURCE_IN_SLOT)
        return 0;
    int code = source_begin(s, &s->decoder, e, &fault);
    if (code != ERR_INPUT)
        return code;
    code = source_note(s, e, code, &fault);
    source_leave(s);
    return code;
}

int event_source_next(struct event_source *s, struct wake_block *batch, struct err *err)
{
    int code = s->request.earlier != NULL ? source_give_earlier(s, batch) : 0;
    if (code == 0)
        s->request.earlier = NULL; /* there are no more */
    while (code == 0) {
        if (s->state == SOURCE_IN_SLOT)
            code = source_next_of_slot(s, batch);
        else if (s->state == SOURCE_DECODING)
            code = source_next_decoded(s, batch);
        else if (!source_take(s))
            break;
        else
            code = source_enter(s);
    }
    return code == ERR_MEMORY ? err_no_memory(err) : code;
}

int event_source_open(struct event_source **out, struct wake_reader *r, const struct event_request *request,
                      struct err *err)
{
    struct event_source *s = memory_new_zeroed(1, sizeof *s);
    const struct meta_decoder *shelf = r->shelves.data[request->process];
    bool fine = s != NULL && vec_reserve(&s->chunks, request->end - request->first + 1);
    *out = fine ? s : NULL;
    if (!fine) {
        free(s);
        return err_no_memory(err);
    }
    s->reader = r;
    s->request = *request;
    for (size_t i = request->first; i < request->end; i++) {
        const struct index_entry *e = &r->index.entries.data[shelf->spans.data[i]];
        if (e->events.last_ns >= request->from_ns && e->events.first_ns <= request->to_ns)
            (void)vec_push(&s->chunks, e);
    }
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    chunk_decoder_init(&s->decoder.replay);
    source_start(s);
    return 0;
}

static void source_release_batch(struct source_batch *batch)
{
    free(batch->arrays);
    free(batch->matching);
}

void event_source_close(struct event_source *s)
{
    if (s == NULL)
        return;
    pthread_mutex_lock(&s->lock);
    s->is_ended = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < s->thread_count; i++)
        pthread_join(s->threads[i], NULL);
    for (size_t i = 0; i < s->slot_count; i++) {
        for (size_t k = 0; k < s->slots[i].batches.count; k++)
            source_release_batch(&s->slots[i].batches.data[k]);
        vec_release(&s->slots[i].batches);
    }
    free(s->slots);
    source_release_batch(&s->batch);
    chunk_decoder_release(&s->decoder.replay);
    chunk_scratch_release(&s->decoder.scratch);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s->columns);
    vec_release(&s->chunks);
    free(s);
}

/* -------------------------------------------------------------------- visits */

struct event_request event_request_all(const struct wake_reader *r, size_t process, uint64_t from_ns,
                                       uint64_t to_ns, unsigned columns)
{
    const struct wake_process *p = wake_reader_process(r, process);
    bool has_carried = p->carried.count > 0 && from_ns <= p->carried_ns;
    return (struct event_request){.process = process,
                                  .end = wake_reader_span_count(r, process),
                                  .earlier = has_carried ? source_fill_carried : NULL,
                                  .earlier_of = p,
                                  .from_ns = from_ns,
                                  .to_ns = to_ns,
                                  .columns = columns};
}

int event_request_visit(const struct event_request *request, struct wake_reader *r, wake_block_fn *visit,
                        void *context, struct err *err)
{
    struct event_source *s;
    struct wake_block batch;
    int got = 0, code = event_source_open(&s, r, request, err);
    while (code == 0 && (got = event_source_next(s, &batch, err)) > 0)
        code = visit(&batch, context);
    event_source_close(s);
    if (code == ERR_MEMORY)
        return err_no_memory(err);
    return code != 0 ? code : got;
}

int wake_reader_visit(struct wake_reader *r, size_t process, uint64_t from_ns, uint64_t to_ns,
                      wake_block_fn *visit, void *context, struct err *err)
{
    return wake_reader_visit_columns(r, process, from_ns, to_ns, WAKE_EVERYTHING, visit, context, err);
}

int wake_reader_visit_columns(struct wake_reader *r, size_t process, uint64_t from_ns, uint64_t to_ns,
                              unsigned columns, wake_block_fn *visit, void *context, struct err *err)
{
    if (process >= r->shelves.count)
        return err_set(err, ERR_ABSENT, "%s has no process number %zu.", r->path, process);
    const struct event_request request = event_request_all(r, process, from_ns, to_ns, columns);
    return event_request_visit(&request, r, visit, context, err);
}

size_t wake_reader_span_count(const struct wake_reader *r, size_t process)
{
    return process < r->shelves.count ? r->shelves.data[process]->spans.count : 0;
}

bool wake_reader_span(const struct wake_reader *r, size_t process, size_t i, struct wake_span *span)
{
    if (i >= wake_reader_span_count(r, process))
        return false;
    size_t at = r->shelves.data[process]->spans.data[i];
    const struct events_prelude *p = &r->index.entries.data[at].events;
    *span = (struct wake_span){
        .first_ns = p->first_ns,
        .last_ns = p->last_ns,
        .first_event = p->first_event,
        .events = p->events,
        .allocations = p->allocations,
        .frees = p->frees,
        .live_bytes_first = p->live_bytes_first,
        .live_bytes_last = p->live_bytes_last,
        .live_bytes_max = p->live_bytes_max,
        .live_blocks_first = p->live_blocks_first,
        .live_blocks_last = p->live_blocks_last,
    };
    return true;
}

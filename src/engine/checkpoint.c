/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * checkpoint: see checkpoint.h.
 *
 * Invariants
 *  1. blocks[i] is live at the borders first..last; blocks of which `last` is CHECKPOINT_LIVE are in the builder's live
 *     blocks, which know their place.
 *  2. `first` never falls from block to block: those made since the border before are listed when a border is made.
 *  3. Behind events that are missing there are no borders.
 */
#include "engine/checkpoint.h"

#include <stdlib.h>

#include "tool/memory.h"

enum { CHECKPOINT_BORDERS = 128, CHECKPOINT_APART = 1 << 14 /* events, at least */ };

/* A live block. */
struct checkpoint_entry {
    struct checkpoint_block block;
    uint32_t at; /* in the list, + 1; 0: not there */
};

struct checkpoint_builder {
    struct checkpoints *to;
    const struct wake_reader *reader;
    uint32_t process;
    struct numbered live; /* struct checkpoint_entry */
    VEC(uint64_t) made;   /* numbers of blocks made since the latest border */
    VEC(struct checkpoint_newest) threads;
    struct map thread_places; /* thread -> place in that list */
    uint64_t bytes, apart;
    uint64_t events;  /* since the latest border */
    uint64_t next;    /* number of the event that has to follow */
    uint64_t time_ns; /* of the latest event */
    size_t span;      /* the chunk of the latest event, or the one behind it */
    bool failed;      /* no memory */
    bool is_over;     /* events are missing */
};

void checkpoints_release(struct checkpoints *c)
{
    for (size_t i = 0; i < c->borders.count; i++)
        vec_release(&c->borders.data[i].newest);
    vec_release(&c->borders);
    vec_release(&c->blocks);
}

/* ------------------------------------------------------------------- building */

struct checkpoint_builder *checkpoints_build(struct checkpoints *c, uint64_t bytes, uint64_t events_apart,
                                             const struct wake_reader *reader, uint32_t process)
{
    struct checkpoint_builder *m = memory_new_zeroed(1, sizeof *m);
    if (m == NULL)
        return NULL;
    uint64_t share = wake_reader_process(reader, process)->events / CHECKPOINT_BORDERS;
    struct wake_span first = {0};
    (void)wake_reader_span(reader, process, 0, &first);
    m->to = c;
    m->reader = reader;
    m->process = process;
    m->bytes = bytes;
    m->apart = events_apart != 0 ? events_apart : share > CHECKPOINT_APART ? share : CHECKPOINT_APART;
    m->next = first.first_event;
    numbered_init(&m->live);
    map_init(&m->thread_places);
    return m;
}

void checkpoint_builder_free(struct checkpoint_builder *m)
{
    if (m == NULL)
        return;
    numbered_release(&m->live);
    vec_release(&m->made);
    vec_release(&m->threads);
    map_release(&m->thread_places);
    free(m);
}

/* Every other border goes: border 2 i + 1 becomes i. */
static void checkpoints_thin(struct checkpoint_builder *m)
{
    struct checkpoints *c = m->to;
    size_t kept = 0;
    for (size_t i = 0; i < c->borders.count; i++) {
        if (i % 2 == 1)
            c->borders.data[kept++] = c->borders.data[i];
        else
            vec_release(&c->borders.data[i].newest);
    }
    c->borders.count = kept;
    kept = 0;
    for (size_t i = 0; i < c->blocks.count; i++) {
        struct checkpoint_block b = c->blocks.data[i];
        b.first /= 2;
        if (b.last == CHECKPOINT_LIVE) {
            struct checkpoint_entry *live = numbered_find(&m->live, b.number, sizeof *live);
            if (live != NULL)
                live->at = (uint32_t)kept + 1;
        } else if (b.last == 0 || (b.last = (b.last - 1) / 2) < b.first) {
            continue;
        }
        c->blocks.data[kept++] = b;
    }
    c->blocks.count = kept;
    m->apart *= 2;
}

static size_t checkpoints_size(const struct checkpoints *c)
{
    size_t bytes = c->blocks.count * sizeof *c->blocks.data;
    for (size_t i = 0; i < c->borders.count; i++)
        bytes += c->borders.data[i].newest.count * sizeof *c->borders.data[i].newest.data;
    return bytes;
}

/* Between the latest event and the next, which begins a chunk. */
static void checkpoints_add_border(struct checkpoint_builder *m)
{
    struct checkpoints *c = m->to;
    struct checkpoint_border border = {.span = m->span, .time_ns = m->time_ns};
    uint32_t number = (uint32_t)c->borders.count;
    for (size_t i = 0; i < m->made.count && !m->failed; i++) {
        struct checkpoint_entry *live = numbered_find(&m->live, m->made.data[i], sizeof *live);
        if (live == NULL)
            continue;
        live->block.first = number;
        live->block.last = CHECKPOINT_LIVE;
        m->failed = c->blocks.count >= UINT32_MAX - 1 || !vec_push(&c->blocks, live->block);
        live->at = (uint32_t)c->blocks.count;
    }
    for (size_t i = 0; i < m->threads.count && !m->failed; i++) {
        struct checkpoint_newest newest = m->threads.data[i];
        newest.is_dead = numbered_find(&m->live, newest.number, sizeof(struct checkpoint_entry)) == NULL;
        m->failed = !vec_push(&border.newest, newest);
    }
    if (m->failed || !vec_push(&c->borders, border)) {
        vec_release(&border.newest);
        m->failed = true;
        return;
    }
    m->made.count = 0;
    m->events = 0;
    while (checkpoints_size(c) > m->bytes && c->borders.count > 1)
        checkpoints_thin(m);
}

static void checkpoints_note_thread(struct checkpoint_builder *m, uint32_t thread, uint64_t number)
{
    if (m->threads.count > 0 && m->threads.data[0].thread == thread) {
        m->threads.data[0].number = number;
        return;
    }
    const uint64_t *at = map_find(&m->thread_places, thread);
    if (at != NULL)
        m->threads.data[*at].number = number;
    else if (!map_set(&m->thread_places, thread, m->threads.count) ||
             !vec_push(&m->threads, ((struct checkpoint_newest){.thread = thread, .number = number})))
        m->failed = true;
}

static void checkpoints_alloc(struct checkpoint_builder *m, const struct wake_block *b, uint32_t i)
{
    struct checkpoint_entry *live = numbered_add(&m->live, b->number[i], sizeof *live);
    if (live == NULL || !vec_push(&m->made, b->number[i])) {
        m->failed = true;
        return;
    }
    *live = (struct checkpoint_entry){.block = {.number = b->number[i],
                                                .born_ns = b->time_ns[i],
                                                .address = b->address[i],
                                                .size = b->size[i],
                                                .usable = b->usable[i],
                                                .previous = b->previous[i],
                                                .stack = b->stack[i],
                                                .thread = b->thread[i],
                                                .kind = b->detail[i],
                                                .arena = b->arena[i]}};
    checkpoints_note_thread(m, b->thread[i], b->number[i]);
}

static void checkpoints_free(struct checkpoint_builder *m, uint64_t number)
{
    const struct checkpoint_entry *was = numbered_take(&m->live, number, sizeof *was);
    if (was != NULL && was->at != 0)
        m->to->blocks.data[was->at - 1].last = (uint32_t)m->to->borders.count - 1;
}

/* A batch that begins a chunk may have a border before it. */
static void checkpoints_meet(struct checkpoint_builder *m, const struct wake_block *b)
{
    struct wake_span span;
    m->is_over = m->is_over || b->first_event != m->next;
    m->next = b->first_event + b->count;
    while (wake_reader_span(m->reader, m->process, m->span, &span) && span.first_event < b->first_event)
        m->span++;
    bool begins =
        wake_reader_span(m->reader, m->process, m->span, &span) && span.first_event == b->first_event;
    if (begins && m->events >= m->apart && !m->is_over)
        checkpoints_add_border(m);
    m->events += b->count;
}

bool checkpoints_take(struct checkpoint_builder *m, const struct wake_block *b)
{
    if (!b->is_carried)
        checkpoints_meet(m, b);
    for (uint32_t j = 0; j < b->alloc_count && !m->failed; j++)
        checkpoints_alloc(m, b, b->alloc_at[j]);
    for (uint32_t k = 0; k < b->free_count && !m->failed; k++)
        checkpoints_free(m, b->number[b->free_at[k]]);
    m->time_ns = b->time_ns[b->count - 1];
    return !m->failed && !m->is_over;
}

/* ------------------------------------------------------------------- starting */

bool checkpoints_find(const struct checkpoints *c, const struct filter *f, struct checkpoint *start)
{
    const struct query *q = f->query;
    const struct when *w = f->when;
    bool depends =
        (f->checks & (CHECK_MARK | CHECK_CHAIN | CHECK_GROUPS)) != 0 ||
        (q->temporary_ns == 0 && (q->temporary_allocations != 1 || (f->checks & CHECK_TEMPORARY) != 0));
    uint32_t low = 0, high = depends ? 0 : (uint32_t)c->borders.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t time_ns = c->borders.data[middle].time_ns;
        if (time_ns < w->window.min && time_ns <= w->moment)
            low = middle + 1;
        else
            high = middle;
    }
    *start = (struct checkpoint){c, low - 1};
    return low > 0;
}

static uint32_t checkpoint_fill(const void *of, size_t *at, struct event_columns *to)
{
    const struct checkpoint *start = of;
    const struct checkpoints *c = start->of;
    uint32_t i = 0;
    for (; *at < c->blocks.count && c->blocks.data[*at].first <= start->border && i < WAKE_BLOCK_MAX; ++*at) {
        const struct checkpoint_block *b = &c->blocks.data[*at];
        if (b->last < start->border)
            continue;
        to->detail[i] = b->kind;
        to->arena[i] = b->arena;
        to->thread[i] = b->thread;
        to->stack[i] = b->stack;
        to->time_ns[i] = b->born_ns;
        to->address[i] = b->address;
        to->size[i] = b->size;
        to->usable[i] = b->usable;
        to->number[i] = b->number;
        to->previous[i] = b->previous;
        i++;
    }
    return i;
}

void checkpoint_begin(const struct checkpoint *start, struct event_request *request)
{
    request->first = start->of->borders.data[start->border].span;
    request->earlier = checkpoint_fill;
    request->earlier_of = start;
}

void checkpoint_restore(const struct checkpoint *start, struct thread_states *slots)
{
    const struct checkpoint_border *border = &start->of->borders.data[start->border];
    for (size_t i = 0; i < border->newest.count; i++) {
        const struct checkpoint_newest *newest = &border->newest.data[i];
        uint32_t slot = thread_states_get(slots, newest->thread);
        slots->all.data[slot].newest = newest->number;
        slots->all.data[slot].made += newest->is_dead;
    }
}

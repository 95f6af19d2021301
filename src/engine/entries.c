/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * entries: see entries.h.
 */
#include "engine/entries.h"

#include <stdlib.h>
#include <string.h>

#include "engine/prefetch.h"
#include "engine/thread_state.h"
#include "store/numbered.h"
#include "tool/memory.h"
#include "wire/record.h"

enum {
    ENTRIES_COLUMN_BYTES = 14, /* of all columns but addresses */
    ENTRIES_CHAIN_PART = 2,    /* links and chains have this part of what entries may have, besides */
    ENTRIES_TIME_BYTES = 12,
    ENTRIES_CLASSES = 1 << 16,   /* that have a number */
    ENTRIES_SLACK_MAX = 1 << 26, /* that a class can have, this and the next three */
    ENTRIES_THREADS = 1 << 20,
    ENTRIES_KINDS = 32,
    ENTRIES_NAMES = 1 << 8,  /* of marks */
    ENTRIES_MARKS = 1 << 12, /* whose names are looked up */
};

#define ENTRIES_MOST ((uint64_t)UINT32_MAX - ENTRIES_AT_ONCE - 1)

/* A live block. */
struct entries_block {
    uint32_t entry, time; /* of its birth */
    uint32_t row;
    uint16_t class;
    bool is_link; /* of a chain, as far as is known */
};

/* While events are read. */
struct entries_builder {
    struct entries *entries;
    const struct filter *filter;
    struct numbered live;
    struct thread_states slots;
    struct map classes; /* what has them in common -> number */
    uint64_t keys[2];   /* that were looked up last, for births and for deaths, and what was found */
    uint32_t found[2];
    const uint64_t *leaked; /* in the filter's list: not below the latest number */
    uint64_t events;        /* that the chunks say they have */
    uint64_t missed;        /* of these, so far */
    uint64_t next;          /* number: all so far were smaller */
    uint64_t times_max;     /* for which there is room */
    uint8_t mark;           /* name of the latest */
    VEC(uint8_t) marks;     /* names, by number */
    bool is_full;           /* there is no room for more */
    bool is_odd, failed;
};

void entries_release(struct entries *l)
{
    free(l->rows);
    free(l->falls);
    map_release(&l->large);
    vec_release(&l->class_list);
    vec_release(&l->times);
    vec_release(&l->firsts);
    vec_release(&l->lasting);
    vec_release(&l->marks);
    address_index_release(&l->abode);
    chain_index_release(&l->lineage);
    free(l->groups);
    *l = (struct entries){0};
}

/* Room for so many entries.  False: there is no memory, or it would not do for any. */
static bool entries_reserve(struct entries *l, uint64_t entries, uint64_t bytes)
{
    map_init(&l->large);
    chain_index_init(&l->lineage, bytes / ENTRIES_CHAIN_PART);
    uint64_t most = bytes / (ENTRIES_ENTRY_BYTES + 1);
    entries = entries < most ? entries : most;
    entries = entries < ENTRIES_MOST ? entries : ENTRIES_MOST;
    size_t all = entries + ENTRIES_AT_ONCE;
    l->rows = memory_try_large(all * ENTRIES_COLUMN_BYTES);
    l->falls = memory_try_large(all / 8 + 2);
    if (entries == 0 || l->rows == NULL || l->falls == NULL || !address_index_init(&l->abode, all))
        return false;
    l->mates = l->rows + all;
    l->sizes = l->mates + all;
    l->classes = (uint16_t *)(l->sizes + all);
    l->capacity = entries;
    return true;
}

/* Which are releases, those behind the last entry included. */
static void entries_note_falls(struct entries *l)
{
    size_t all = l->count + ENTRIES_AT_ONCE;
    memset(l->falls + all / 8, 0, 2);
    for (size_t i = l->published / 8 * 8; i + 8 <= all; i += 8) {
        unsigned bits = 0;
        for (unsigned k = 0; k < 8; k++)
            bits |= l->rows[i + k] >> 31 << k;
        l->falls[i / 8] = (uint8_t)bits;
    }
}

/* Lists births from an entry on.  While entries grow only those that the file lists as leaked: of the others it is not known.  False:
 * no memory. */
static bool entries_list_lasting(struct entries *l, size_t from, bool is_whole)
{
    bool fine = true;
    for (size_t i = from; i < l->count && fine; i++)
        if (l->rows[i] < ENTRIES_FALLS &&
            ((is_whole && l->mates[i] == ENTRIES_NEVER) || l->class_list.data[l->classes[i]].is_leaked))
            fine = vec_push(&l->lasting, (uint32_t)i);
    return fine;
}

/* Nothing of them is of use. */
static void entries_give_up(struct entries_builder *m)
{
    struct entries *l = m->entries;
    l->published = 0;
    l->until_ns = 0;
    l->is_whole = l->knows_addresses = l->knows_chains = false;
    m->is_odd = true;
}

void entries_publish(struct entries_builder *m)
{
    struct entries *l = m->entries;
    if (m->is_odd || m->failed || l->count == 0)
        return;
    memset(l->rows + l->count, 0, ENTRIES_AT_ONCE * sizeof *l->rows);
    memset(l->mates + l->count, 0, ENTRIES_AT_ONCE * sizeof *l->mates);
    memset(l->sizes + l->count, 0, ENTRIES_AT_ONCE * sizeof *l->sizes);
    memset(l->classes + l->count, 0, ENTRIES_AT_ONCE * sizeof *l->classes);
    memset(l->abode.codes + l->count, 0, ENTRIES_AT_ONCE * sizeof *l->abode.codes);
    entries_note_falls(l);
    if (!entries_list_lasting(l, l->published, false)) {
        entries_give_up(m);
        return;
    }
    l->published = l->count;
    l->until_ns = l->times.data[l->times.count - 1];
}

void entries_finish(struct entries_builder *m)
{
    struct entries *l = m->entries;
    /* What is damaged may be left out by one question and read by the next, which wants fewer columns. */
    bool is_whole = m->missed == 0 && !m->is_full && l->seen_ns <= m->filter->process->end.end_ns;
    if (m->is_odd || m->failed || (!m->is_full && !is_whole)) {
        entries_give_up(m);
        return;
    }
    entries_publish(m);
    if (!is_whole)
        return;
    l->lasting.count = 0;
    l->is_whole = entries_list_lasting(l, 0, true);
    l->knows_addresses = l->is_whole && !l->abode.is_odd;
    if (l->knows_addresses)
        address_index_close(&l->abode, l->count);
    l->knows_chains = l->is_whole && !l->lineage.is_odd;
    if (!l->knows_chains)
        chain_index_release(&l->lineage);
    chain_index_close(&l->lineage);
}

uint64_t entries_large_size(const struct entries *l, size_t entry)
{
    const uint64_t *size = map_find(&l->large, entry);
    return size == NULL ? 0 : *size;
}

/* ----------------------------------------------------------------- classes */

/* The number of a class that is looked for by a key.  is_end: which of the two lookups this is. */
static uint32_t entries_find_class(struct entries_builder *m, bool is_end, uint64_t key,
                                   const struct entries_class *c)
{
    if (m->keys[is_end] == key)
        return m->found[is_end];
    uint64_t whole = key << 1 | is_end;
    const uint64_t *at = map_find(&m->classes, whole);
    uint32_t found = at != NULL ? (uint32_t)*at : (uint32_t)m->entries->class_list.count;
    if (at == NULL && found == ENTRIES_CLASSES) {
        m->is_odd = true;
        return 0;
    }
    if (at == NULL && (!vec_push(&m->entries->class_list, *c) || !map_set(&m->classes, whole, found))) {
        m->failed = true;
        return 0;
    }
    m->keys[is_end] = key;
    m->found[is_end] = found;
    return found;
}

/* Of a block that is made now, as long as it is not freed. */
static uint32_t entries_class_of_birth(struct entries_builder *m, const struct wake_block *b, uint32_t i)
{
    uint64_t slack = b->usable[i] > b->size[i] ? b->usable[i] - b->size[i] : 0;
    while (*m->leaked < b->number[i])
        m->leaked++;
    const struct entries_class c = {.thread = b->thread[i],
                                    .slack = (uint32_t)slack,
                                    .kind = b->detail[i],
                                    .mark = m->mark,
                                    .arena = b->arena[i] != 0,
                                    .is_leaked = *m->leaked == b->number[i]};
    m->is_odd = m->is_odd || slack >= ENTRIES_SLACK_MAX || b->detail[i] >= ENTRIES_KINDS ||
                b->thread[i] >= ENTRIES_THREADS;
    m->entries->knows_usable = m->entries->knows_usable && b->usable[i] >= b->size[i];
    uint64_t key = (uint64_t)c.thread << 41 | (uint64_t)c.kind << 36 | (uint64_t)c.mark << 28 |
                   (uint64_t)c.arena << 27 | (uint64_t)c.is_leaked << 26 | c.slack;
    return entries_find_class(m, false, key, &c);
}

static uint32_t entries_class_of_death(struct entries_builder *m, uint32_t of_birth, uint32_t freer,
                                       bool is_temporary)
{
    struct entries_class c = m->entries->class_list.data[of_birth];
    c.is_freed = true;
    c.freer = freer;
    c.is_temporary = is_temporary;
    m->is_odd = m->is_odd || freer >= ENTRIES_THREADS;
    uint64_t key = (uint64_t)of_birth << 32 | (uint64_t)freer << 1 | is_temporary;
    return entries_find_class(m, true, key, &c);
}

/* ------------------------------------------------------------------- marks */

static bool entries_name_mark(struct entries_builder *m, const char *name)
{
    struct entries *l = m->entries;
    size_t number = 1;
    while (number < l->marks.count && strcmp(l->marks.data[number], name) != 0)
        number++;
    l->knows_marks = number < ENTRIES_NAMES;
    if (l->knows_marks && number == l->marks.count && !vec_push(&l->marks, name))
        return false;
    return vec_push(&m->marks, (uint8_t)(l->knows_marks ? number : 0));
}

/* Looks up what all marks are called.  False: no memory. */
static bool entries_name_marks(struct entries_builder *m)
{
    const struct wake_process *p = m->filter->process;
    bool fine = vec_push(&m->entries->marks, NULL);
    m->entries->knows_marks = p->marks.count <= ENTRIES_MARKS;
    for (size_t i = 0; i < p->marks.count && fine && m->entries->knows_marks; i++)
        fine = entries_name_mark(m, p->marks.data[i].name);
    return fine;
}

/* ------------------------------------------------------------------- parts */

/* Of a birth that is about to be entered. */
static void entries_settle_in(struct entries_builder *m, struct entries_block *block,
                              const struct wake_block *b, uint32_t i)
{
    struct entries *l = m->entries;
    bool is_large = b->size[i] >= ENTRIES_LARGE;
    l->abode.codes[block->entry] = address_index_encode(&l->abode, b->address[i]);
    if (!l->lineage.is_odd && (b->previous[i] != 0 || is_large)) {
        const struct chain_index_event made = {b->number[i], b->size[i], b->time_ns[i], block->entry};
        block->is_link = chain_index_add(&l->lineage, &made, b->previous[i], is_large, &m->failed);
    }
}

/* Of a death. */
static void entries_move_out(struct entries_builder *m, const struct entries_block *was,
                             const struct wake_block *b, uint32_t i)
{
    struct entries *l = m->entries;
    bool by_realloc = b->detail[i] == HOW_REALLOC;
    l->abode.codes[l->count] = l->abode.codes[was->entry];
    if (!l->lineage.is_odd && (was->is_link || by_realloc)) {
        uint64_t size = entries_size(l, was->entry);
        const struct chain_index_event gone = {b->number[i], size, b->time_ns[i], (uint32_t)l->count};
        const struct chain_index_event born = {b->number[i], size, l->times.data[was->time], was->entry};
        if (!chain_index_end(&l->lineage, &gone, was->is_link ? NULL : &born, by_realloc))
            m->failed = true;
    }
}

/* ------------------------------------------------------------------ events */

static void entries_enter(struct entries_builder *m, uint32_t row, uint64_t size, uint32_t mate,
                          uint32_t class)
{
    struct entries *l = m->entries;
    size_t at = l->count++;
    l->rows[at] = row;
    l->mates[at] = mate;
    l->classes[at] = (uint16_t)class;
    l->sizes[at] = size < ENTRIES_LARGE ? (uint32_t)size : ENTRIES_LARGE;
    l->smallest = size < l->smallest ? size : l->smallest;
    l->largest = size > l->largest ? size : l->largest;
    if (size >= ENTRIES_LARGE)
        m->failed = !map_set(&l->large, at, size) || m->failed;
}

static void entries_alloc(struct entries_builder *m, const struct wake_block *b, uint32_t i, uint32_t now)
{
    struct entries_block *block = numbered_add(&m->live, b->number[i], sizeof *block);
    m->failed = m->failed || block == NULL;
    m->is_full = m->is_full || m->entries->count == m->entries->capacity;
    if (m->failed || m->is_full)
        return;
    uint32_t slot = thread_states_get(&m->slots, b->thread[i]);
    m->slots.all.data[slot].newest = b->number[i];
    *block = (struct entries_block){.entry = (uint32_t)m->entries->count,
                                    .time = now,
                                    .row = filter_stack(m->filter, b->stack[i]),
                                    .class = (uint16_t)entries_class_of_birth(m, b, i)};
    stack_group_alloc(&m->entries->groups[block->row], (struct weight){1, b->size[i]}, b->time_ns[i]);
    entries_settle_in(m, block, b, i);
    entries_enter(m, block->row, b->size[i], ENTRIES_NEVER, block->class);
}

static void entries_free(struct entries_builder *m, const struct wake_block *b, uint32_t i, uint32_t now)
{
    struct entries *l = m->entries;
    const struct entries_block *was = numbered_take(&m->live, b->number[i], sizeof *was);
    m->is_full = m->is_full || l->count == l->capacity;
    if (was == NULL || m->is_full)
        return;
    entries_move_out(m, was, b, i);
    uint32_t slot = thread_states_get(&m->slots, b->thread[i]);
    bool is_temporary = m->filter->knows_order && m->slots.all.data[slot].newest == b->number[i];
    uint32_t class = entries_class_of_death(m, was->class, b->thread[i], is_temporary);
    l->mates[was->entry] = now;
    l->classes[was->entry] = (uint16_t)class;
    uint64_t size = entries_size(l, was->entry);
    l->groups[was->row].bytes -= size;
    entries_enter(m, was->row | ENTRIES_FALLS, size, was->time, class);
}

/* The number of an event's time. */
static uint32_t entries_time(struct entries_builder *m, uint64_t time_ns)
{
    struct entries *l = m->entries;
    if (l->times.count > 1 && l->times.data[l->times.count - 1] == time_ns)
        return (uint32_t)l->times.count - 1;
    bool goes_back = l->times.count > 1 && time_ns < l->times.data[l->times.count - 1];
    m->is_odd = m->is_odd || goes_back || time_ns > INT64_MAX;
    m->is_full = m->is_full || l->times.count >= m->times_max;
    bool fine = vec_push(&l->times, time_ns) && vec_push(&l->firsts, (uint32_t)l->count);
    m->failed = m->failed || !fine;
    return (uint32_t)l->times.count - 1;
}

/* The next events.  False: allocations are not numbered as they follow each other. */
static bool entries_meet(struct entries_builder *m, const struct wake_block *b)
{
    bool rises = true;
    if (b->alloc_count > 0) { /* within a chunk numbers rise one by one */
        rises = b->number[b->alloc_at[0]] >= m->next;
        m->next = b->number[b->alloc_at[b->alloc_count - 1]] + 1;
    }
    m->missed -= b->count;
    return rises;
}

bool entries_take(struct entries_builder *m, const struct wake_block *b)
{
    m->is_odd = m->is_odd || !entries_meet(m, b);
    struct prefetch ahead = {0};
    for (uint32_t i = 0; i < b->count && !m->is_odd && !m->is_full && !m->failed; i++) {
        if (b->event[i] == WAKE_ALLOC) {
            entries_alloc(m, b, i, entries_time(m, b->time_ns[i]));
        } else if (b->event[i] == WAKE_FREE) {
            prefetch_release(&ahead, &m->live, b, sizeof(struct entries_block));
            entries_free(m, b, i, entries_time(m, b->time_ns[i]));
        } else if (b->event[i] == WAKE_MARK) {
            m->mark = b->number[i] < m->marks.count ? m->marks.data[b->number[i]] : 0;
        }
    }
    m->failed = m->failed || m->slots.failed;
    m->entries->seen_ns = b->time_ns[b->count - 1];
    if (m->is_odd || m->failed)
        entries_give_up(m);
    return !m->is_odd && !m->is_full && !m->failed;
}

struct entries_builder *entries_begin(struct entries *l, uint64_t bytes, const struct filter *f,
                                      const struct wake_reader *reader, uint32_t process)
{
    struct entries_builder *m = memory_new_zeroed(1, sizeof *m);
    struct wake_span span;
    *l = (struct entries){.smallest = UINT64_MAX, .knows_usable = true};
    if (m == NULL)
        return NULL;
    m->entries = l;
    m->filter = f;
    m->leaked = f->leaked.data;
    m->keys[0] = m->keys[1] = UINT64_MAX;
    for (size_t i = 0; wake_reader_span(reader, process, i, &span); i++)
        m->missed += span.events;
    numbered_init(&m->live);
    map_init(&m->classes);
    bool fine = f->stack_count < ENTRIES_FALLS && entries_reserve(l, m->missed, bytes) &&
                thread_states_init(&m->slots, f->query, f->process) && vec_push(&l->times, UINT64_MAX) &&
                vec_push(&l->firsts, 0) && entries_name_marks(m) && (l->groups = stack_group_new(f)) != NULL;
    if (fine) {
        m->times_max = (bytes - l->capacity * ENTRIES_ENTRY_BYTES) / ENTRIES_TIME_BYTES;
        return m;
    }
    entries_release(l);
    entries_builder_free(m);
    return NULL;
}

void entries_builder_free(struct entries_builder *m)
{
    if (m == NULL)
        return;
    numbered_release(&m->live);
    thread_states_release(&m->slots);
    map_release(&m->classes);
    vec_release(&m->marks);
    free(m);
}

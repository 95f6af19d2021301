/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ledger: see ledger.h.
 */
#include "query/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "query/ahead.h"
#include "query/slots.h"
#include "store/numbered.h"
#include "tool/memory.h"
#include "wire/record.h"

enum {
    LEDGER_CHAIN_PART = 2, /* links and chains have this part of what entries may have, besides */
    LEDGER_TIME_BYTES = 12,
    LEDGER_CLASSES = 1 << 16,   /* that have a number */
    LEDGER_SLACK_MAX = 1 << 26, /* that a class can have, this and the next three */
    LEDGER_THREADS = 1 << 20,
    LEDGER_KINDS = 32,
    LEDGER_NAMES = 1 << 8,  /* of marks */
    LEDGER_MARKS = 1 << 12, /* whose names are looked up */
};

/* A live block. */
struct ledger_block {
    uint32_t entry, time; /* of its birth */
    uint32_t row;
    uint16_t class;
    bool is_link; /* of a chain, as far as is known */
};

struct ledger_making {
    struct ledger *ledger;
    const struct filter *filter;
    struct watch *watch;
    struct numbered live;
    struct slots slots;
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
    bool is_odd, failed;
};

void ledger_release(struct ledger *l)
{
    free(l->rows);
    free(l->falls);
    map_release(&l->large);
    vec_release(&l->class_list);
    vec_release(&l->times);
    vec_release(&l->firsts);
    vec_release(&l->lasting);
    vec_release(&l->marks);
    abode_release(&l->abode);
    lineage_release(&l->lineage);
    free(l->groups);
    *l = (struct ledger){0};
}

/* Room for so many entries.  False: they would take more than `bytes`, or there is no memory. */
static bool ledger_reserve(struct ledger *l, uint64_t entries, uint64_t bytes)
{
    map_init(&l->large);
    if (entries > bytes / LEDGER_ENTRY_BYTES || entries >= UINT32_MAX - LEDGER_AT_ONCE)
        return false;
    size_t all = entries + LEDGER_AT_ONCE;
    l->rows = memory_try_large(all * LEDGER_ENTRY_BYTES);
    l->falls = memory_try_large(all / 8 + 2);
    if (l->rows == NULL || l->falls == NULL)
        return false;
    l->mates = l->rows + all;
    l->sizes = l->mates + all;
    l->classes = (uint16_t *)(l->sizes + all);
    l->capacity = entries;
    return true;
}

/* What is asked for besides, where there is room for it: as much as for entries, in proportion. */
static void ledger_reserve_parts(struct ledger *l, unsigned parts, uint64_t bytes)
{
    lineage_init(&l->lineage, bytes / LEDGER_CHAIN_PART);
    l->has = parts;
    if ((parts & LEDGER_ADDRESSES) != 0 && !abode_init(&l->abode, l->capacity + LEDGER_AT_ONCE)) {
        l->has &= ~(unsigned)LEDGER_ADDRESSES;
        l->lacks |= LEDGER_ADDRESSES;
    }
}

/* All are entered. */
static void ledger_close_parts(struct ledger *l)
{
    if ((l->has & LEDGER_ADDRESSES) != 0 && !l->abode.is_odd) {
        memset(l->abode.codes + l->count, 0, LEDGER_AT_ONCE * sizeof *l->abode.codes);
        abode_close(&l->abode, l->count);
    } else if ((l->has & LEDGER_ADDRESSES) != 0) {
        abode_release(&l->abode);
        l->lacks |= LEDGER_ADDRESSES;
    }
    if (l->lineage.is_odd) {
        lineage_release(&l->lineage);
        l->lacks |= LEDGER_CHAINS;
    }
    lineage_close(&l->lineage);
    l->has &= ~l->lacks;
}

/* Which are releases, those behind the last entry included. */
static void ledger_note_falls(struct ledger *l)
{
    size_t all = l->count + LEDGER_AT_ONCE;
    memset(l->falls + all / 8, 0, 2);
    for (size_t i = 0; i + 8 <= all; i += 8) {
        unsigned bits = 0;
        for (unsigned k = 0; k < 8; k++)
            bits |= l->rows[i + k] >> 31 << k;
        l->falls[i / 8] = (uint8_t)bits;
    }
}

/* Behind the last entry.  False: no memory. */
static bool ledger_close(struct ledger *l)
{
    memset(l->rows + l->count, 0, LEDGER_AT_ONCE * sizeof *l->rows);
    memset(l->mates + l->count, 0, LEDGER_AT_ONCE * sizeof *l->mates);
    memset(l->sizes + l->count, 0, LEDGER_AT_ONCE * sizeof *l->sizes);
    memset(l->classes + l->count, 0, LEDGER_AT_ONCE * sizeof *l->classes);
    ledger_note_falls(l);
    ledger_close_parts(l);
    bool fine = true;
    for (size_t i = 0; i < l->count && fine; i++)
        if (l->rows[i] < LEDGER_FALLS &&
            (l->mates[i] == LEDGER_NEVER || l->class_list.data[l->classes[i]].is_leaked))
            fine = vec_push(&l->lasting, (uint32_t)i);
    return fine;
}

uint64_t ledger_large_size(const struct ledger *l, size_t entry)
{
    const uint64_t *size = map_find(&l->large, entry);
    return size == NULL ? 0 : *size;
}

/* ----------------------------------------------------------------- classes */

/* The number of a class that is looked for by a key.  is_end: which of the two lookups this is. */
static uint32_t ledger_find_class(struct ledger_making *m, bool is_end, uint64_t key,
                                  const struct ledger_class *c)
{
    if (m->keys[is_end] == key)
        return m->found[is_end];
    uint64_t whole = key << 1 | is_end;
    const uint64_t *at = map_find(&m->classes, whole);
    uint32_t found = at != NULL ? (uint32_t)*at : (uint32_t)m->ledger->class_list.count;
    if (at == NULL && found == LEDGER_CLASSES) {
        m->is_odd = true;
        return 0;
    }
    if (at == NULL && (!vec_push(&m->ledger->class_list, *c) || !map_set(&m->classes, whole, found))) {
        m->failed = true;
        return 0;
    }
    m->keys[is_end] = key;
    m->found[is_end] = found;
    return found;
}

/* Of a block that is made now, as long as it is not freed. */
static uint32_t ledger_class_of_birth(struct ledger_making *m, const struct wake_block *b, uint32_t i)
{
    uint64_t slack = b->usable[i] > b->size[i] ? b->usable[i] - b->size[i] : 0;
    while (*m->leaked < b->number[i])
        m->leaked++;
    const struct ledger_class c = {.thread = b->thread[i],
                                   .slack = (uint32_t)slack,
                                   .kind = b->detail[i],
                                   .mark = m->mark,
                                   .arena = b->arena[i] != 0,
                                   .is_leaked = *m->leaked == b->number[i]};
    m->is_odd = m->is_odd || slack >= LEDGER_SLACK_MAX || b->detail[i] >= LEDGER_KINDS ||
                b->thread[i] >= LEDGER_THREADS;
    m->ledger->knows_usable = m->ledger->knows_usable && b->usable[i] >= b->size[i];
    uint64_t key = (uint64_t)c.thread << 41 | (uint64_t)c.kind << 36 | (uint64_t)c.mark << 28 |
                   (uint64_t)c.arena << 27 | (uint64_t)c.is_leaked << 26 | c.slack;
    return ledger_find_class(m, false, key, &c);
}

static uint32_t ledger_class_of_death(struct ledger_making *m, uint32_t of_birth, uint32_t freer,
                                      bool is_temporary)
{
    struct ledger_class c = m->ledger->class_list.data[of_birth];
    c.is_freed = true;
    c.freer = freer;
    c.is_temporary = is_temporary;
    m->is_odd = m->is_odd || freer >= LEDGER_THREADS;
    uint64_t key = (uint64_t)of_birth << 32 | (uint64_t)freer << 1 | is_temporary;
    return ledger_find_class(m, true, key, &c);
}

/* ------------------------------------------------------------------- marks */

static bool ledger_name_mark(struct ledger_making *m, const char *name)
{
    struct ledger *l = m->ledger;
    size_t number = 1;
    while (number < l->marks.count && strcmp(l->marks.data[number], name) != 0)
        number++;
    l->knows_marks = number < LEDGER_NAMES;
    if (l->knows_marks && number == l->marks.count && !vec_push(&l->marks, name))
        return false;
    return vec_push(&m->marks, (uint8_t)(l->knows_marks ? number : 0));
}

/* Looks up what all marks are called.  False: no memory. */
static bool ledger_name_marks(struct ledger_making *m)
{
    const struct wake_process *p = m->filter->process;
    bool fine = vec_push(&m->ledger->marks, NULL);
    m->ledger->knows_marks = p->marks.count <= LEDGER_MARKS;
    for (size_t i = 0; i < p->marks.count && fine && m->ledger->knows_marks; i++)
        fine = ledger_name_mark(m, p->marks.data[i].name);
    return fine;
}

/* ------------------------------------------------------------------- parts */

/* Of a birth that is about to be entered. */
static void ledger_settle_in(struct ledger_making *m, struct ledger_block *block, const struct wake_block *b,
                             uint32_t i)
{
    struct ledger *l = m->ledger;
    bool is_large = b->size[i] >= LEDGER_LARGE;
    if ((l->has & LEDGER_ADDRESSES) != 0)
        l->abode.codes[block->entry] = abode_encode(&l->abode, b->address[i]);
    if ((l->has & LEDGER_CHAINS) != 0 && (b->previous[i] != 0 || is_large)) {
        const struct lineage_event made = {b->number[i], b->size[i], b->time_ns[i], block->entry};
        block->is_link = lineage_add(&l->lineage, &made, b->previous[i], is_large, &m->failed);
    }
}

/* Of a death. */
static void ledger_move_out(struct ledger_making *m, const struct ledger_block *was,
                            const struct wake_block *b, uint32_t i)
{
    struct ledger *l = m->ledger;
    bool by_realloc = b->detail[i] == HOW_REALLOC;
    if ((l->has & LEDGER_ADDRESSES) != 0)
        l->abode.codes[l->count] = l->abode.codes[was->entry];
    if ((l->has & LEDGER_CHAINS) != 0 && (was->is_link || by_realloc)) {
        uint64_t size = ledger_size(l, was->entry);
        const struct lineage_event gone = {b->number[i], size, b->time_ns[i], (uint32_t)l->count};
        const struct lineage_event born = {b->number[i], size, l->times.data[was->time], was->entry};
        if (!lineage_end(&l->lineage, &gone, was->is_link ? NULL : &born, by_realloc))
            m->failed = true;
    }
}

/* ------------------------------------------------------------------ events */

static void ledger_enter(struct ledger_making *m, uint32_t row, uint64_t size, uint32_t mate, uint32_t class)
{
    struct ledger *l = m->ledger;
    size_t at = l->count++;
    l->rows[at] = row;
    l->mates[at] = mate;
    l->classes[at] = (uint16_t)(class);
    l->sizes[at] = size < LEDGER_LARGE ? (uint32_t)size : LEDGER_LARGE;
    l->smallest = size < l->smallest ? size : l->smallest;
    l->largest = size > l->largest ? size : l->largest;
    if (size >= LEDGER_LARGE)
        m->failed = !map_set(&l->large, at, size) || m->failed;
}

static void ledger_alloc(struct ledger_making *m, const struct wake_block *b, uint32_t i, uint32_t now)
{
    struct ledger_block *block = numbered_add(&m->live, b->number[i], sizeof *block);
    m->failed = m->failed || block == NULL;
    m->is_odd = m->is_odd || m->ledger->count == m->ledger->capacity;
    if (m->failed || m->is_odd)
        return;
    uint32_t slot = slots_get(&m->slots, b->thread[i]);
    m->slots.all.data[slot].newest = b->number[i];
    *block = (struct ledger_block){.entry = (uint32_t)m->ledger->count,
                                   .time = now,
                                   .row = filter_stack(m->filter, b->stack[i]),
                                   .class = (uint16_t)ledger_class_of_birth(m, b, i)};
    cohort_alloc(&m->ledger->groups[block->row], (struct weight){1, b->size[i]}, b->time_ns[i]);
    if (m->ledger->has != 0)
        ledger_settle_in(m, block, b, i);
    ledger_enter(m, block->row, b->size[i], LEDGER_NEVER, block->class);
}

static void ledger_free(struct ledger_making *m, const struct wake_block *b, uint32_t i, uint32_t now)
{
    struct ledger *l = m->ledger;
    const struct ledger_block *was = numbered_take(&m->live, b->number[i], sizeof *was);
    m->is_odd = m->is_odd || l->count == l->capacity;
    if (was == NULL || m->is_odd)
        return;
    if (l->has != 0)
        ledger_move_out(m, was, b, i);
    uint32_t slot = slots_get(&m->slots, b->thread[i]);
    bool is_temporary = m->filter->knows_order && m->slots.all.data[slot].newest == b->number[i];
    uint32_t class = ledger_class_of_death(m, was->class, b->thread[i], is_temporary);
    l->mates[was->entry] = now;
    l->classes[was->entry] = (uint16_t)(class);
    uint64_t size = ledger_size(l, was->entry);
    l->groups[was->row].bytes -= size;
    ledger_enter(m, was->row | LEDGER_FALLS, size, was->time, class);
}

/* The number of an event's time. */
static uint32_t ledger_time(struct ledger_making *m, uint64_t time_ns)
{
    struct ledger *l = m->ledger;
    if (l->times.count > 1 && l->times.data[l->times.count - 1] == time_ns)
        return (uint32_t)l->times.count - 1;
    bool goes_back = l->times.count > 1 && time_ns < l->times.data[l->times.count - 1];
    m->is_odd = m->is_odd || goes_back || time_ns > INT64_MAX || l->times.count >= m->times_max;
    bool fine = vec_push(&l->times, time_ns) && vec_push(&l->firsts, (uint32_t)l->count);
    m->failed = m->failed || !fine;
    return (uint32_t)l->times.count - 1;
}

/* The next events.  False: allocations are not numbered as they follow each other. */
static bool ledger_meet(struct ledger_making *m, const struct wake_block *b)
{
    bool rises = true;
    if (b->alloc_count > 0) { /* within a chunk numbers rise one by one */
        rises = b->number[b->alloc_at[0]] >= m->next;
        m->next = b->number[b->alloc_at[b->alloc_count - 1]] + 1;
    }
    m->missed -= b->count;
    return rises;
}

static int ledger_events(const struct wake_block *b, void *context)
{
    struct ledger_making *m = context;
    m->is_odd = m->is_odd || !ledger_meet(m, b);
    struct ahead ahead = {0};
    for (uint32_t i = 0; i < b->count && !m->is_odd && !m->failed; i++) {
        if (b->event[i] == WAKE_ALLOC) {
            ledger_alloc(m, b, i, ledger_time(m, b->time_ns[i]));
        } else if (b->event[i] == WAKE_FREE) {
            ahead_release(&ahead, &m->live, b, sizeof(struct ledger_block));
            ledger_free(m, b, i, ledger_time(m, b->time_ns[i]));
        } else if (b->event[i] == WAKE_MARK) {
            m->mark = b->number[i] < m->marks.count ? m->marks.data[b->number[i]] : 0;
        }
    }
    m->failed = m->failed || m->slots.failed;
    m->ledger->seen_ns = b->time_ns[b->count - 1];
    if (m->is_odd)
        return LEDGER_ODD;
    return m->failed ? ERR_MEMORY : watch_advance(m->watch, b->count);
}

/* Reads the events. */
static int ledger_read(struct ledger_making *m, struct wake_reader *reader, uint32_t process, struct err *err)
{
    unsigned columns = WAKE_TIME | WAKE_SIZE | WAKE_USABLE | WAKE_STACK | WAKE_THREAD | WAKE_ARENA;
    if ((m->ledger->has & LEDGER_ADDRESSES) != 0)
        columns |= WAKE_ADDRESS;
    if ((m->ledger->has & LEDGER_CHAINS) != 0)
        columns |= WAKE_PREVIOUS;
    return wake_reader_visit_columns(reader, process, 0, UINT64_MAX, columns, ledger_events, m, err);
}

int ledger_make(struct ledger *l, unsigned parts, uint64_t bytes, const struct filter *f, struct watch *watch,
                struct wake_reader *reader, uint32_t process, struct err *err)
{
    struct ledger_making m = {
        .ledger = l, .filter = f, .watch = watch, .leaked = f->leaked.data, .keys = {UINT64_MAX, UINT64_MAX}};
    struct wake_span span;
    for (size_t i = 0; wake_reader_span(reader, process, i, &span); i++)
        m.events += span.events;
    m.missed = m.events;
    *l = (struct ledger){.smallest = UINT64_MAX, .knows_usable = true};
    if (f->stack_count >= LEDGER_FALLS || !ledger_reserve(l, m.events, bytes))
        return LEDGER_ODD;
    ledger_reserve_parts(l, parts, bytes);
    m.times_max = (bytes - m.events * LEDGER_ENTRY_BYTES) / LEDGER_TIME_BYTES;
    numbered_init(&m.live);
    map_init(&m.classes);
    bool fine = slots_init(&m.slots, f->query, f->process) && vec_push(&l->times, UINT64_MAX) &&
                vec_push(&l->firsts, 0) && ledger_name_marks(&m) && (l->groups = cohort_new(f)) != NULL;
    int code = fine ? 0 : ERR_MEMORY;
    if (code == 0)
        code = ledger_read(&m, reader, process, err);
    numbered_release(&m.live);
    slots_release(&m.slots);
    map_release(&m.classes);
    vec_release(&m.marks);
    if (code >= 0 && code != LEDGER_ODD && !ledger_close(l))
        code = ERR_MEMORY;
    if (code == ERR_MEMORY)
        return err_set(err, ERR_MEMORY, "There is no memory for the live blocks of the query.");
    /* What is damaged may be left out by one question and read by the next, which wants fewer columns. */
    bool is_whole = m.missed == 0 && l->seen_ns <= f->process->end.end_ns;
    return code == 0 && !is_whole ? LEDGER_ODD : code;
}

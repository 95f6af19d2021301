/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * maps: see maps.h.
 *
 * The events of a process are played on its address space (regions.h), in which every page
 * knows the mapping that it belongs to.
 *
 * A call of mremap is an UNMAP of what it was given and a MAP of what it gave, with the flags of
 * mremap and no rights; a munmap that fails is an UNMAP and a MAP of the same, with no flags at all.
 * Both come from one call, so both events have one thread, one stack, and no other event of
 * mappings of that thread between them.
 */
#include "engine/maps.h"

#include <stdlib.h>
#include <string.h>

#include "engine/maps_filter.h"
#include "engine/maps_sampled.h"
#include "engine/regions.h"
#include "engine/watch.h"
#include "tool/map.h"

#define MAPS_PAGE UINT64_C(4096)

enum {
    MAPS_REMAP_KEEPS = 4, /* MREMAP_DONTUNMAP */
    MAPS_REMAP_FLAGS = 7, /* all that mremap has */
};

/* What a thread has done: its latest removal, in case that it is taken back. */
struct maps_thread {
    uint64_t made; /* mappings */
    uint64_t start, end;
    uint32_t stack;
    bool is_open;
    VEC(struct region) pieces; /* value: number of the mapping */
};

struct maps_work {
    struct maps *to;
    uint32_t process; /* over all recordings */
    struct regions live;
    struct maps_sampled sampled;
    struct map numbers; /* thread -> index in threads */
    VEC(struct maps_thread *) threads;
    struct maps_thread *current; /* that gathers pieces, or NULL */
    struct maps_removal removal; /* what pieces are removed by */
    size_t first;                /* its first mapping */
    uint32_t mark;               /* number + 1 of the latest; 0 = none */
    uint64_t call;               /* events of mappings so far */
    struct watch *watch;
    maps_block_fn *block; /* or NULL */
    void *of;
};

const char *maps_cause_name(unsigned cause)
{
    static const char *const names[MAPS_CAUSES] = {"mmap", "munmap", "mremap", "brk"};
    return cause < MAPS_CAUSES ? names[cause] : "-";
}

const char *maps_cut_name(unsigned cut)
{
    static const char *const names[] = {"whole", "start", "end", "middle"};
    return cut <= MAPS_MIDDLE ? names[cut] : "-";
}

const char *maps_sort_name(unsigned by)
{
    static const char *const names[MAPS_SORTS] = {"peak-rss", "size", "time", "address"};
    return by < MAPS_SORTS ? names[by] : "-";
}

void maps_init(struct maps *m)
{
    memset(m, 0, sizeof *m);
}

void maps_release(struct maps *m)
{
    for (size_t i = 0; i < m->list.count; i++) {
        vec_release(&m->list.data[i].pieces);
        vec_release(&m->list.data[i].removals);
        vec_release(&m->list.data[i].usage);
    }
    vec_release(&m->list);
    vec_release(&m->others);
    vec_release(&m->chosen);
    vec_release(&m->changes);
    when_release(&m->when);
}

static uint64_t maps_round(uint64_t address)
{
    return address > UINT64_MAX - MAPS_PAGE ? UINT64_MAX & ~(MAPS_PAGE - 1)
                                            : (address + MAPS_PAGE - 1) & ~(MAPS_PAGE - 1);
}

static uint64_t maps_end(uint64_t start, uint64_t length)
{
    return maps_round(length > UINT64_MAX - start ? UINT64_MAX : start + length);
}

/* ------------------------------------------------------------------- removals */

static bool maps_note(struct maps_work *w, uint64_t time_ns, size_t mapping, uint64_t bytes, bool is_less)
{
    int64_t signed_bytes = is_less ? -(int64_t)bytes : (int64_t)bytes;
    return vec_push(&w->to->changes, ((struct maps_change){time_ns, mapping, signed_bytes}));
}

/* What a thread has done so far, made when needed; NULL: no memory. */
static struct maps_thread *maps_find_thread(struct maps_work *w, uint32_t thread)
{
    const uint64_t *known = map_find(&w->numbers, thread);
    if (known != NULL)
        return w->threads.data[*known];
    struct maps_thread *u = memory_new_zeroed(1, sizeof *u);
    if (u == NULL || !vec_push(&w->threads, u)) {
        free(u);
        return NULL;
    }
    return map_set(&w->numbers, thread, w->threads.count - 1) ? u : NULL;
}

/* Before the piece goes: what of its surroundings is the same mapping's? */
static enum maps_cut maps_find_cut(const struct regions *live, const struct region *piece)
{
    const struct region *whole = &live->list.data[regions_find(live, piece->start)];
    bool has_before = whole->start<piece->start, has_behind = whole->end> piece->end;
    return has_before && has_behind ? MAPS_MIDDLE
           : has_before             ? MAPS_END
           : has_behind             ? MAPS_START
                                    : MAPS_WHOLE;
}

static bool maps_cut(void *of, const struct region *piece)
{
    struct maps_work *w = of;
    struct mapping *m = &w->to->list.data[piece->value];
    struct maps_removal r = w->removal;
    r.start = piece->start;
    r.end = piece->end;
    r.call = w->call;
    r.cut = (uint8_t)maps_find_cut(&w->live, piece);
    m->left_bytes -= piece->end - piece->start;
    if (m->left_bytes == 0) {
        const struct maps_thread *own = maps_find_thread(w, m->thread);
        m->gone_ns = r.time_ns;
        m->thread_made_since = own == NULL ? 0 : own->made - m->thread_made;
    }
    return maps_note(w, r.time_ns, (size_t)piece->value, piece->end - piece->start, true) &&
           vec_push(&m->removals, r) && (w->current == NULL || vec_push(&w->current->pieces, *piece));
}

static bool maps_unmap(struct maps_work *w, const struct wake_block *b, uint32_t i)
{
    uint64_t start = b->address[i], end = maps_end(start, b->size[i]);
    struct maps_thread *u = maps_find_thread(w, b->thread[i]);
    if (u == NULL)
        return false;
    u->start = start;
    u->end = end;
    u->stack = b->stack[i];
    u->is_open = true;
    u->pieces.count = 0;
    w->removal = (struct maps_removal){.time_ns = b->time_ns[i],
                                       .thread = b->thread[i],
                                       .stack = b->stack[i],
                                       .cause = MAPS_MUNMAP,
                                       .by = MAPS_NONE};
    w->current = u;
    bool fine = regions_remove(&w->live, start, end, maps_cut, w);
    w->current = NULL;
    return fine;
}

/* The removal of a piece, which is the latest of its range. */
static struct maps_removal *maps_find_removal(struct mapping *m, const struct region *piece)
{
    for (size_t i = m->removals.count; i-- > 0;) {
        struct maps_removal *r = &m->removals.data[i];
        if (r->start == piece->start && r->end == piece->end)
            return r;
    }
    return NULL;
}

/* It was no removal.  Nobody else can be there, but in a recording that makes no sense. */
static bool maps_take_back(struct maps_work *w, struct maps_thread *u, const struct mapping *now)
{
    bool fine = true;
    for (size_t i = 0; i < u->pieces.count && fine; i++) {
        const struct region *piece = &u->pieces.data[i];
        struct mapping *m = &w->to->list.data[piece->value];
        struct maps_removal *r = maps_find_removal(m, piece);
        if (r != NULL) {
            size_t behind = (size_t)(m->removals.data + m->removals.count - (r + 1));
            memmove(r, r + 1, behind * sizeof *r);
            m->removals.count--;
        }
        m->left_bytes += piece->end - piece->start;
        m->gone_ns = 0;
        w->removal = (struct maps_removal){.time_ns = now->made_ns,
                                           .thread = now->thread,
                                           .stack = now->stack,
                                           .cause = MAPS_MREMAP,
                                           .by = (size_t)piece->value};
        fine = regions_insert(&w->live, piece->start, piece->end, piece->value, maps_cut, w) &&
               maps_note(w, now->made_ns, (size_t)piece->value, piece->end - piece->start, false);
    }
    return fine;
}

/* ------------------------------------------------------------------------ maps */

/* A new mapping in place of whatever is there. */
static bool maps_add(struct maps_work *w, struct mapping *m)
{
    if (m->start >= m->end)
        return true;
    size_t number = w->to->list.count;
    bool is_followed = number < MAPS_MAX;
    w->removal = (struct maps_removal){.time_ns = m->made_ns,
                                       .thread = m->thread,
                                       .stack = m->stack,
                                       .cause = m->how,
                                       .by = is_followed ? number : MAPS_NONE};
    if (!is_followed) {
        w->to->beyond++;
        return regions_remove(&w->live, m->start, m->end, maps_cut, w);
    }
    m->process = w->process;
    m->number = (uint32_t)(number - w->first) + 1;
    m->mark = w->mark;
    m->left_bytes = m->end - m->start;
    m->name = "";
    struct maps_thread *thread = maps_find_thread(w, m->thread);
    if (thread == NULL)
        return false;
    m->thread_made = thread->made + 1;
    if (!vec_push(&w->to->list, *m) || !regions_insert(&w->live, m->start, m->end, number, maps_cut, w))
        return false;
    thread->made++; /* behind the removal of what was there */
    return maps_note(w, m->made_ns, number, m->end - m->start, false);
}

/* mremap gave something in place of what its thread has just removed. */
static bool maps_move(struct maps_work *w, struct maps_thread *u, struct mapping *m)
{
    uint32_t flags = m->flags;
    size_t number = w->to->list.count < MAPS_MAX ? w->to->list.count : MAPS_NONE;
    for (size_t i = 0; i < u->pieces.count; i++) {
        struct mapping *old = &w->to->list.data[u->pieces.data[i].value];
        struct maps_removal *r = maps_find_removal(old, &u->pieces.data[i]);
        if (i == 0) {
            m->previous = (size_t)u->pieces.data[i].value;
            m->prot = old->prot;
            m->flags = old->flags;
        }
        if (r != NULL) {
            r->cause = MAPS_MREMAP;
            r->by = number;
        }
    }
    m->how = MAPS_MREMAP;
    return ((flags & MAPS_REMAP_KEEPS) == 0 || maps_take_back(w, u, m)) && maps_add(w, m);
}

static bool maps_map(struct maps_work *w, const struct wake_block *b, uint32_t i)
{
    struct mapping m = {.thread = b->thread[i],
                        .stack = b->stack[i],
                        .how = MAPS_MMAP,
                        .prot = (uint32_t)b->usable[i],
                        .flags = (uint32_t)(b->usable[i] >> 32),
                        .made_ns = b->time_ns[i],
                        .start = b->address[i],
                        .end = maps_end(b->address[i], b->size[i]),
                        .previous = MAPS_NONE};
    const uint64_t *known = map_find(&w->numbers, b->thread[i]);
    struct maps_thread *u = known == NULL ? NULL : w->threads.data[*known];
    bool goes_on =
        u != NULL && u->is_open && u->stack == m.stack && m.prot == 0 && m.flags <= MAPS_REMAP_FLAGS;
    if (u != NULL)
        u->is_open = false;
    if (!goes_on)
        return maps_add(w, &m);
    if (m.flags == 0 && m.start == u->start && m.end == u->end)
        return maps_take_back(w, u, &m);
    return maps_move(w, u, &m);
}

static bool maps_brk(struct maps_work *w, const struct wake_block *b, uint32_t i)
{
    uint64_t old = maps_round(b->address[i]), now = maps_round(b->usable[i]);
    struct mapping m = {.thread = b->thread[i],
                        .stack = b->stack[i],
                        .how = MAPS_BRK,
                        .prot = WAKE_READ | WAKE_WRITE,
                        .flags = 0,
                        .made_ns = b->time_ns[i],
                        .start = old,
                        .end = now,
                        .previous = MAPS_NONE};
    if (now >= old)
        return maps_add(w, &m);
    w->removal = (struct maps_removal){
        .time_ns = m.made_ns, .thread = m.thread, .stack = m.stack, .cause = MAPS_BRK, .by = MAPS_NONE};
    return regions_remove(&w->live, now, old, maps_cut, w);
}

/* -------------------------------------------------------------------- reading */

/* The block's first byte counts. */
static bool maps_see_block(struct maps_work *w, uint64_t address, uint64_t block)
{
    size_t at = regions_find(&w->live, address);
    if (at == w->live.list.count || w->live.list.data[at].start > address)
        return true;
    return w->block(w->of, w->to->list.data[w->live.list.data[at].value].number, block);
}

static int maps_visit(const struct wake_block *b, void *context)
{
    struct maps_work *w = context;
    bool fine = true;
    for (uint32_t i = 0; i < b->count && fine; i++) {
        uint8_t event = b->event[i];
        if (event == WAKE_ALLOC && w->block != NULL)
            fine = maps_see_block(w, b->address[i], b->number[i]);
        if (event == WAKE_MARK)
            w->mark = (uint32_t)b->number[i] + 1;
        if (event != WAKE_MAP && event != WAKE_UNMAP && event != WAKE_BRK)
            continue;
        w->call++;
        fine = maps_sampled_take(&w->sampled, &w->live, b->time_ns[i]) &&
               (event == WAKE_MAP     ? maps_map(w, b, i)
                : event == WAKE_UNMAP ? maps_unmap(w, b, i)
                                      : maps_brk(w, b, i));
    }
    return fine ? watch_advance(w->watch, b->count) : ERR_MEMORY;
}

static bool maps_finish(struct maps_work *w)
{
    bool fine = true;
    for (size_t i = 0; i < w->live.list.count && fine; i++) {
        const struct region *r = &w->live.list.data[i];
        fine = vec_push(&w->to->list.data[r->value].pieces, ((struct maps_piece){r->start, r->end}));
    }
    return fine;
}

int maps_play(struct maps *m, struct watch *watch, struct wake_reader *r, uint32_t process, uint32_t base,
              maps_block_fn *block, void *of, struct err *err)
{
    const struct wake_process *p = wake_reader_process(r, process);
    struct maps_work w = {
        .to = m, .process = base + process, .first = m->list.count, .watch = watch, .block = block, .of = of};
    m->changes.count = 0;
    regions_init(&w.live);
    map_init(&w.numbers);
    maps_sampled_init(&w.sampled, m, watch, p, base + process);
    int code = wake_reader_visit(r, process, 0, UINT64_MAX, maps_visit, &w, err);
    if ((code == 0 && !maps_sampled_take(&w.sampled, &w.live, UINT64_MAX)) ||
        ((code == 0 || code == WATCH_STOP) && !maps_finish(&w)))
        code = ERR_MEMORY;
    for (size_t i = 0; i < w.threads.count; i++) {
        vec_release(&w.threads.data[i]->pieces);
        free(w.threads.data[i]);
    }
    vec_release(&w.threads);
    map_release(&w.numbers);
    regions_release(&w.live);
    maps_sampled_release(&w.sampled);
    if (code == ERR_MEMORY)
        return err_no_memory(err);
    return code;
}

int maps_read(struct maps *m, const struct query *q, struct wake_reader *r, uint32_t process, uint32_t base,
              struct err *err)
{
    struct watch watch = {.query = q, .total = wake_reader_process(r, process)->events};
    size_t first = m->list.count;
    int code = maps_play(m, &watch, r, process, base, NULL, NULL, err);
    return code == 0 || code == WATCH_STOP ? maps_choose(m, first, q, r, process, err) : code;
}

/* -------------------------------------------------------------------- sorting */

struct maps_sorting {
    const struct mapping *list;
    enum maps_sort by;
    bool is_reverse;
};

/* What comes first has the smaller one. */
static uint64_t maps_rank(const struct mapping *m, enum maps_sort by)
{
    switch (by) {
    case MAPS_BY_SIZE:
        return UINT64_MAX - (m->end - m->start);
    case MAPS_BY_TIME:
        return m->made_ns;
    case MAPS_BY_ADDRESS:
        return m->start;
    default:
        return UINT64_MAX - m->peak_rss_bytes;
    }
}

static int maps_compare(const void *a, const void *b, void *of)
{
    const struct maps_sorting *s = of;
    const struct mapping *x = &s->list[*(const size_t *)a], *y = &s->list[*(const size_t *)b];
    uint64_t first = maps_rank(x, s->by), second = maps_rank(y, s->by);
    if (first != second)
        return (first < second) != s->is_reverse ? -1 : 1;
    if (s->by == MAPS_BY_PEAK_RSS && x->end - x->start != y->end - y->start)
        return x->end - x->start > y->end - y->start ? -1 : 1;
    return x < y ? -1 : x > y;
}

void maps_order(struct maps *m, enum maps_sort by, bool is_reverse)
{
    struct maps_sorting s = {m->list.data, by, is_reverse};
    if (m->chosen.count > 1)
        qsort_r(m->chosen.data, m->chosen.count, sizeof *m->chosen.data, maps_compare, &s);
}

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
#include "query/maps.h"

#include <stdlib.h>
#include <string.h>

#include "query/maps_sampled.h"
#include "query/regions.h"
#include "query/watch.h"
#include "tool/map.h"

#define MAPS_PAGE UINT64_C(4096)

enum {
    MAPS_REMAP_KEEPS = 4, /* MREMAP_DONTUNMAP */
    MAPS_REMAP_FLAGS = 7, /* all that mremap has */
};

/* The latest removal by a thread, in case that it is taken back. */
struct maps_unmap {
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
    struct map threads; /* thread -> index in unmaps */
    VEC(struct maps_unmap *) unmaps;
    struct maps_unmap *current;  /* that gathers pieces, or NULL */
    struct maps_removal removal; /* what pieces are removed by */
    uint64_t mapped_bytes;
    struct watch watch;
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
    vec_release(&m->order);
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
    r.cut = (uint8_t)maps_find_cut(&w->live, piece);
    m->left_bytes -= piece->end - piece->start;
    w->mapped_bytes -= piece->end - piece->start;
    if (m->left_bytes == 0)
        m->gone_ns = r.time_ns;
    return vec_push(&m->removals, r) && (w->current == NULL || vec_push(&w->current->pieces, *piece));
}

/* What a thread has removed last, made when needed; NULL: no memory. */
static struct maps_unmap *maps_find_unmap(struct maps_work *w, uint32_t thread)
{
    const uint64_t *known = map_find(&w->threads, thread);
    if (known != NULL)
        return w->unmaps.data[*known];
    struct maps_unmap *u = memory_new_zeroed(1, sizeof *u);
    if (u == NULL || !vec_push(&w->unmaps, u)) {
        free(u);
        return NULL;
    }
    return map_set(&w->threads, thread, w->unmaps.count - 1) ? u : NULL;
}

static bool maps_unmap(struct maps_work *w, const struct wake_block *b, uint32_t i)
{
    uint64_t start = b->address[i], end = maps_end(start, b->size[i]);
    struct maps_unmap *u = maps_find_unmap(w, b->thread[i]);
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
static bool maps_take_back(struct maps_work *w, struct maps_unmap *u, const struct mapping *now)
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
        w->mapped_bytes += piece->end - piece->start;
        m->gone_ns = 0;
        w->removal = (struct maps_removal){.time_ns = now->made_ns,
                                           .thread = now->thread,
                                           .stack = now->stack,
                                           .cause = MAPS_MREMAP,
                                           .by = (size_t)piece->value};
        fine = regions_insert(&w->live, piece->start, piece->end, piece->value, maps_cut, w);
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
    m->left_bytes = m->end - m->start;
    m->name = "";
    if (!vec_push(&w->to->list, *m) || !regions_insert(&w->live, m->start, m->end, number, maps_cut, w))
        return false;
    w->mapped_bytes += m->end - m->start;
    if (w->mapped_bytes > w->to->peak_bytes) {
        w->to->peak_bytes = w->mapped_bytes;
        w->to->peak_ns = m->made_ns;
    }
    return true;
}

/* mremap gave something in place of what its thread has just removed. */
static bool maps_move(struct maps_work *w, struct maps_unmap *u, struct mapping *m)
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
    const uint64_t *known = map_find(&w->threads, b->thread[i]);
    struct maps_unmap *u = known == NULL ? NULL : w->unmaps.data[*known];
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

static int maps_visit(const struct wake_block *b, void *context)
{
    struct maps_work *w = context;
    bool fine = true;
    for (uint32_t i = 0; i < b->count && fine; i++) {
        uint8_t event = b->event[i];
        if (event != WAKE_MAP && event != WAKE_UNMAP && event != WAKE_BRK)
            continue;
        fine = maps_sampled_take(&w->sampled, &w->live, b->time_ns[i]) &&
               (event == WAKE_MAP     ? maps_map(w, b, i)
                : event == WAKE_UNMAP ? maps_unmap(w, b, i)
                                      : maps_brk(w, b, i));
    }
    return fine ? watch_advance(&w->watch, b->count) : ERR_MEMORY;
}

static bool maps_finish(struct maps_work *w, size_t first)
{
    bool fine = true;
    for (size_t i = 0; i < w->live.list.count && fine; i++) {
        const struct region *r = &w->live.list.data[i];
        struct mapping *m = &w->to->list.data[r->value];
        fine = vec_push(&m->pieces, ((struct maps_piece){r->start, r->end}));
        w->to->left_bytes += r->end - r->start;
    }
    for (size_t i = first; i < w->to->list.count; i++)
        w->to->left += w->to->list.data[i].left_bytes != 0;
    return fine;
}

int maps_read(struct maps *m, const struct query *q, struct wake_reader *r, uint32_t process, uint32_t base,
              struct err *err)
{
    const struct wake_process *p = wake_reader_process(r, process);
    struct maps_work w = {.to = m, .process = base + process, .watch = {.query = q, .total = p->events}};
    size_t first = m->list.count;
    regions_init(&w.live);
    map_init(&w.threads);
    maps_sampled_init(&w.sampled, m, p, base + process);
    int code = wake_reader_visit(r, process, 0, UINT64_MAX, maps_visit, &w, err);
    if ((code == 0 && !maps_sampled_take(&w.sampled, &w.live, UINT64_MAX)) ||
        ((code == 0 || code == WATCH_STOP) && !maps_finish(&w, first)))
        code = ERR_MEMORY;
    for (size_t i = 0; i < w.unmaps.count; i++) {
        vec_release(&w.unmaps.data[i]->pieces);
        free(w.unmaps.data[i]);
    }
    vec_release(&w.unmaps);
    map_release(&w.threads);
    regions_release(&w.live);
    maps_sampled_release(&w.sampled);
    if (code == ERR_MEMORY)
        return err_set(err, ERR_MEMORY, "There is no memory for the mappings.");
    return code == WATCH_STOP ? 0 : code;
}

static int maps_compare(const void *a, const void *b, void *of)
{
    const struct mapping *list = of, *x = &list[*(const size_t *)a], *y = &list[*(const size_t *)b];
    uint64_t x_size = x->end - x->start, y_size = y->end - y->start;
    if (x->peak_rss_bytes != y->peak_rss_bytes)
        return x->peak_rss_bytes > y->peak_rss_bytes ? -1 : 1;
    if (x_size != y_size)
        return x_size > y_size ? -1 : 1;
    return x < y ? -1 : x > y;
}

int maps_order(struct maps *m, struct err *err)
{
    m->order.count = 0;
    if (!vec_reserve(&m->order, m->list.count))
        return err_set(err, ERR_MEMORY, "There is no memory for the mappings.");
    for (size_t i = 0; i < m->list.count; i++)
        (void)vec_push(&m->order, i);
    if (m->order.count > 1)
        qsort_r(m->order.data, m->order.count, sizeof *m->order.data, maps_compare, m->list.data);
    return 0;
}

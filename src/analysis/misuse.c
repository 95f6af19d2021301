/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * misuse: see misuse.h.
 *
 * First reading: mismatches, and the addresses of releases that fit no block.
 * If there are any, a second reading follows just these: which block covered each
 * address last, and whether it is still live.  For a forked child that reading begins with
 * its oldest ancestor and goes on where each next one was forked, so that
 * what a child inherits is live in it from its first event.  When a process was forked is known to some
 * milliseconds only; what its parent freed just then is taken to have been live.
 */
#include "analysis/misuse.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "engine/pairing.h"
#include "tool/memory.h"
#include "wire/record.h"

enum { MISUSE_FORK_NS = 50 * 1000000 };

const char *misuse_name(enum misuse_kind kind)
{
    static const char *const names[MISUSE_COUNT] = {"double-free", "inside-block", "never-allocated",
                                                    "mismatch", "inherited"};
    return names[kind];
}

void misuses_init(struct misuses *m)
{
    memset(m, 0, sizeof *m);
    map_init(&m->slots);
}

void misuses_release(struct misuses *m)
{
    vec_release(&m->list);
    map_release(&m->slots);
}

static bool misuse_is_like(const struct misuse *a, const struct misuse *b)
{
    return a->kind == b->kind && a->process == b->process && a->how == b->how && a->stack == b->stack &&
           a->block.process == b->block.process && a->block.stack == b->block.stack &&
           a->block.freed_stack == b->block.freed_stack && a->block.kind == b->block.kind;
}

/* Counts it, or adds it.  False: no memory. */
static bool misuses_add(struct misuses *m, const struct misuse *one)
{
    uint64_t key = (uint64_t)one->block.stack << 32 | (uint64_t)one->process << 8 | one->how;
    for (const uint64_t *at; (at = map_find(&m->slots, key)) != NULL; key += UINT64_C(0x9e3779b97f4a7c15)) {
        if (misuse_is_like(&m->list.data[*at], one)) {
            m->list.data[*at].count++;
            return true;
        }
    }
    return map_set(&m->slots, key, m->list.count) && vec_push(&m->list, *one);
}

/* ------------------------------------------------------------- first reading */

struct misuse_live {
    uint64_t address, size, born_ns;
    uint32_t stack, thread;
    uint8_t kind;
};

struct misuse_scan {
    struct misuses *to;
    uint32_t process;
    struct map unknown; /* addresses of releases that fit no block */
    bool is_held;       /* a misuse by realloc, until the next event tells its stack */
    uint64_t held_number;
    struct misuse held;
    struct watch watch;
};

static bool misuse_fits(unsigned kind, unsigned how)
{
    switch (kind) {
    case KIND_NEW:
    case KIND_NEW_ALIGNED:
        return how == HOW_DELETE;
    case KIND_NEW_ARRAY:
    case KIND_NEW_ARRAY_ALIGNED:
        return how == HOW_DELETE_ARRAY;
    default:
        return how != HOW_DELETE && how != HOW_DELETE_ARRAY;
    }
}

static struct misuse misuse_of(uint32_t process, enum misuse_kind kind, const struct wake_block *b,
                               uint32_t i)
{
    return (struct misuse){.kind = kind,
                           .count = 1,
                           .process = process,
                           .thread = b->thread[i],
                           .time_ns = b->time_ns[i],
                           .address = b->address[i],
                           .stack = b->stack[i],
                           .how = b->detail[i]};
}

/* Adds what was held back; i: the event after it. */
static int misuse_scan_settle(void *context, const struct wake_block *b, uint32_t i)
{
    struct misuse_scan *s = context;
    if (!s->is_held)
        return 0;
    if (b->event[i] == WAKE_ALLOC && b->previous[i] == s->held_number + 1)
        s->held.stack = b->stack[i];
    s->is_held = false;
    return misuses_add(s->to, &s->held) ? 0 : ERR_MEMORY;
}

static int misuse_scan_birth(void *context, const struct wake_block *b, uint32_t i, void *entry)
{
    (void)context;
    *(struct misuse_live *)entry = (struct misuse_live){b->address[i], b->size[i],   b->time_ns[i],
                                                        b->stack[i],   b->thread[i], b->detail[i]};
    return PAIRING_KEEP;
}

static int misuse_scan_death(void *context, const struct wake_block *b, uint32_t i, const void *entry)
{
    struct misuse_scan *s = context;
    const struct misuse_live *was = entry;
    if (was == NULL || misuse_fits(was->kind, b->detail[i]))
        return 0;
    struct misuse one = misuse_of(s->process, MISUSE_MISMATCH, b, i);
    one.address = was->address;
    one.block = (struct misuse_block){.is_known = true,
                                      .process = s->process,
                                      .stack = was->stack,
                                      .thread = was->thread,
                                      .kind = was->kind,
                                      .address = was->address,
                                      .size = was->size,
                                      .born_ns = was->born_ns};
    if (one.how != HOW_REALLOC || one.stack != 0)
        return misuses_add(s->to, &one) ? 0 : ERR_MEMORY;
    s->is_held = true;
    s->held_number = b->number[i];
    s->held = one;
    return 0;
}

static int misuse_scan_other(void *context, const struct wake_block *b, uint32_t i)
{
    struct misuse_scan *s = context;
    if (b->event[i] != WAKE_FREE_UNKNOWN || map_find(&s->unknown, b->address[i]) != NULL)
        return 0;
    if (map_count(&s->unknown) < MISUSE_ADDRESSES)
        return map_set(&s->unknown, b->address[i], 1) ? 0 : ERR_MEMORY;
    s->to->not_followed++;
    return 0;
}

/* ------------------------------------------------------------ second reading */

/* An address that is followed, and the block that covered it last. */
struct misuse_spot {
    uint64_t address;
    uint64_t number; /* of the block, while it is live in the process that is read */
    bool is_live, is_inherited;
    bool is_used_up; /* what an ancestor that is not in the file may have had here is freed */
    struct misuse_block block;
};

struct misuse_follow {
    struct misuses *to;
    uint32_t process;
    uint64_t surely_ns;        /* of an ancestor: what it freed later may have been live when it forked */
    bool is_own;               /* the process that is asked about; else one of its ancestors */
    bool has_unseen_parent;    /* the oldest of them was forked by a process that is not in the file */
    struct misuse_spot *spots; /* by rising address */
    size_t count;
    struct pairing blocks; /* that cover a spot */
    uint64_t moved;        /* number + 1 of the block that was released last, by realloc; its spots: */
    size_t moved_from, moved_to;
    struct watch watch;
};

struct misuse_covering {
    uint64_t address, size;
};

static size_t misuse_find_spot(const struct misuse_follow *f, uint64_t address)
{
    return sorted_below_by(f->spots, f->count, address, address);
}

static bool misuse_covers(const struct misuse_spot *spot, uint64_t address, uint64_t size)
{
    return spot->address - address < (size == 0 ? 1 : size);
}

static int misuse_follow_birth(void *context, const struct wake_block *b, uint32_t i, void *entry)
{
    struct misuse_follow *f = context;
    if (f->moved != 0 && b->previous[i] == f->moved) {
        for (size_t k = f->moved_from; k < f->moved_to; k++)
            if (f->spots[k].number + 1 == f->moved && !f->spots[k].is_live)
                f->spots[k].block.freed_stack = b->stack[i];
        f->moved = 0;
    }
    size_t at = misuse_find_spot(f, b->address[i]);
    if (at == f->count || !misuse_covers(&f->spots[at], b->address[i], b->size[i]))
        return 0;
    *(struct misuse_covering *)entry = (struct misuse_covering){b->address[i], b->size[i]};
    for (; at < f->count && misuse_covers(&f->spots[at], b->address[i], b->size[i]); at++)
        f->spots[at] = (struct misuse_spot){.address = f->spots[at].address,
                                            .number = b->number[i],
                                            .is_live = true,
                                            .block = {.is_known = true,
                                                      .process = f->process,
                                                      .stack = b->stack[i],
                                                      .thread = b->thread[i],
                                                      .kind = b->detail[i],
                                                      .address = b->address[i],
                                                      .size = b->size[i],
                                                      .born_ns = b->time_ns[i]}};
    return PAIRING_KEEP;
}

static void misuse_bury(struct misuse_spot *spot, const struct wake_block *b, uint32_t i)
{
    spot->is_live = false;
    spot->block.was_freed = true;
    spot->block.freed_ns = b->time_ns[i];
    spot->block.freed_thread = b->thread[i];
    spot->block.freed_stack = b->stack[i];
    spot->block.freed_how = b->detail[i];
}

static int misuse_follow_death(void *context, const struct wake_block *b, uint32_t i, const void *entry)
{
    struct misuse_follow *f = context;
    const struct misuse_covering *c = entry;
    if (c == NULL || b->time_ns[i] > f->surely_ns)
        return 0;
    size_t from = misuse_find_spot(f, c->address), at = from;
    for (; at < f->count && misuse_covers(&f->spots[at], c->address, c->size); at++) {
        if (f->spots[at].is_live && f->spots[at].number == b->number[i])
            misuse_bury(&f->spots[at], b, i);
    }
    if (b->detail[i] == HOW_REALLOC && b->stack[i] == 0) {
        f->moved = b->number[i] + 1;
        f->moved_from = from;
        f->moved_to = at;
    }
    return 0;
}

static enum misuse_kind misuse_classify(const struct misuse_follow *f, const struct misuse_spot *spot)
{
    if (!spot->block.is_known) /* nothing is held against a process that nobody can know */
        return f->has_unseen_parent && !spot->is_used_up ? MISUSE_INHERITED : MISUSE_NEVER;
    if (spot->block.address != spot->address)
        return MISUSE_INSIDE;
    if (spot->is_live)
        return spot->is_inherited ? MISUSE_INHERITED : MISUSE_NEVER;
    return MISUSE_DOUBLE_FREE;
}

static int misuse_follow_other(void *context, const struct wake_block *b, uint32_t i)
{
    struct misuse_follow *f = context;
    if (b->event[i] != WAKE_FREE_UNKNOWN)
        return 0;
    size_t at = misuse_find_spot(f, b->address[i]);
    bool is_followed = at < f->count && f->spots[at].address == b->address[i];
    struct misuse_spot none = {.address = b->address[i]};
    struct misuse_spot *spot = is_followed ? &f->spots[at] : &none;
    struct misuse one = misuse_of(f->process, misuse_classify(f, spot), b, i);
    if (one.kind != MISUSE_NEVER)
        one.block = spot->block;
    if (spot->is_live && spot->is_inherited)
        misuse_bury(spot, b, i);
    spot->is_used_up = true;
    return !f->is_own || misuses_add(f->to, &one) ? 0 : ERR_MEMORY;
}

/* Reads the process up to a moment; before that the one that it was forked from. */
static int misuse_follow_run(struct misuse_follow *f, struct wake_reader *r, uint32_t process,
                             struct err *err)
{
    VEC(uint32_t) line = {0}; /* from the process to its oldest ancestor */
    int code = 0;
    for (uint32_t at = process; code == 0;) {
        const struct wake_process *p = wake_reader_process(r, at);
        if (!vec_push(&line, at))
            code = ERR_MEMORY;
        f->has_unseen_parent = p->info.forked && p->info.parent == 0;
        if (!p->info.forked || p->info.parent == 0 || p->info.parent > at)
            break; /* a parent stands before its children; another order is no tree */
        at = p->info.parent - 1;
    }
    for (size_t i = line.count; i-- > 0 && code == 0;) {
        uint64_t until = i == 0 ? UINT64_MAX : wake_reader_process(r, line.data[i - 1])->info.start_ns;
        f->process = line.data[i];
        f->is_own = i == 0;
        f->surely_ns = i == 0 ? UINT64_MAX : until - (until < MISUSE_FORK_NS ? until : MISUSE_FORK_NS);
        code = wake_reader_visit(r, line.data[i], 0, until, pairing_visit, &f->blocks, err);
        pairing_restart(&f->blocks);
        f->moved = 0;
        for (size_t k = 0; k < f->count; k++)
            f->spots[k].is_inherited = f->spots[k].is_live;
    }
    vec_release(&line);
    return code;
}

static int misuse_compare(const void *left, const void *right)
{
    const struct misuse_spot *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

static int misuse_follow_all(struct misuse_scan *s, struct wake_reader *r, struct err *err)
{
    struct misuse_follow f = {.to = s->to, .watch = {.query = s->watch.query, .total = s->watch.total}};
    uint64_t address, value;
    size_t at = 0;
    f.spots = memory_new_zeroed(map_count(&s->unknown), sizeof *f.spots);
    if (f.spots == NULL)
        return ERR_MEMORY;
    while (map_next(&s->unknown, &at, &address, &value))
        f.spots[f.count++].address = address;
    qsort(f.spots, f.count, sizeof *f.spots, misuse_compare);
    pairing_init(&f.blocks, sizeof(struct misuse_covering), misuse_follow_birth, misuse_follow_death, &f);
    f.blocks.other = misuse_follow_other;
    f.blocks.watch = &f.watch;
    int code = misuse_follow_run(&f, r, s->process, err);
    pairing_release(&f.blocks);
    free(f.spots);
    return code;
}

int misuses_read(struct misuses *m, const struct query *q, struct wake_reader *r, uint32_t process,
                 struct err *err)
{
    const struct wake_process *p = wake_reader_process(r, process);
    struct misuse_scan s = {.to = m, .process = process, .watch = {.query = q, .total = p->events}};
    struct pairing blocks;
    pairing_init(&blocks, sizeof(struct misuse_live), misuse_scan_birth, misuse_scan_death, &s);
    blocks.each = misuse_scan_settle;
    blocks.other = misuse_scan_other;
    blocks.watch = &s.watch;
    map_init(&s.unknown);
    int code = wake_reader_visit(r, process, 0, UINT64_MAX, pairing_visit, &blocks, err);
    if (code == 0 && s.is_held && !misuses_add(m, &s.held))
        code = ERR_MEMORY;
    if (code == 0 && map_count(&s.unknown) > 0)
        code = misuse_follow_all(&s, r, err);
    pairing_release(&blocks);
    map_release(&s.unknown);
    if (code == ERR_MEMORY)
        return err_no_memory(err);
    return code == WATCH_STOP ? 0 : code;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * lots: see lots.h.
 *
 * The blocks of a lot are of four kinds, and happen in this order:
 *
 *                   before the peak      the peak      after it      the end
 *     churn         made and freed
 *     kept                               live                        live
 *     passing                            live          freed
 *     late                                             made          live
 *
 * Churn of all lots comes first, a block or two at a time, so the peak is that
 * of kept and passing.  A churning block is freed after the next one is made
 * where the peak allows it: that a block was freed at once is nothing
 * the source has said.
 *
 * How many are kept is not known either: as many as can be.  Within a kind all
 * blocks have the same size, but for a byte.
 */
#include "import/lots.h"

#include <string.h>

#include "wire/record.h"

#define LOTS_BYTES_MAX (UINT64_C(1) << 60) /* of all lots together, as a recast has it */

struct lots_kinds {
    struct lot_sum churn, kept, passing, late;
    uint32_t stack;
    uint64_t passing_first; /* number of the allocation of its first passing block */
};

struct lots_plan {
    struct recast *recast;
    VEC(struct lots_kinds) kinds;
    uint64_t ceiling;     /* bytes that may be live at once */
    uint64_t told, made;  /* blocks: of the source, of the recording */
    uint64_t odd;         /* lots that contradict themselves */
    uint64_t churn_total; /* blocks */
    uint64_t churn_done;
    bool has_pending; /* a churning block that is to be freed */
    uint64_t pending;
};

void lots_release(struct lots *l)
{
    vec_release(&l->list);
}

bool lots_add(struct lots *l, const struct lot *lot)
{
    return vec_push(&l->list, *lot);
}

/* ----------------------------------------------------------------------- kinds */

static uint64_t lots_less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Blocks without bytes are possible, bytes without blocks are not. */
static bool lots_is_possible(struct lot_sum s)
{
    return s.blocks > 0 || s.bytes == 0;
}

/* The kinds for a number of kept blocks and bytes; false: it does not come out even. */
static bool lots_try(struct lots_kinds *k, const struct lot *lot, uint64_t blocks, uint64_t bytes)
{
    uint64_t held = lot->peak.blocks + lot->end.blocks - blocks,
             held_bytes = lot->peak.bytes + lot->end.bytes - bytes;
    if (held > lot->allocated.blocks || held_bytes > lot->allocated.bytes)
        return false;
    k->kept = (struct lot_sum){blocks, bytes};
    k->passing = (struct lot_sum){lot->peak.blocks - blocks, lot->peak.bytes - bytes};
    k->late = (struct lot_sum){lot->end.blocks - blocks, lot->end.bytes - bytes};
    k->churn = (struct lot_sum){lot->allocated.blocks - held, lot->allocated.bytes - held_bytes};
    return lots_is_possible(k->kept) && lots_is_possible(k->passing) && lots_is_possible(k->late) &&
           lots_is_possible(k->churn);
}

/* False: the lot contradicts itself; what is live is right then, and more was allocated than it says. */
static bool lots_split(struct lots_kinds *k, const struct lot *lot)
{
    uint64_t blocks = lots_less(lot->peak.blocks, lot->end.blocks),
             bytes = lots_less(lot->peak.bytes, lot->end.bytes);
    uint64_t both = lot->peak.bytes + lot->end.bytes;
    k->stack = lot->stack;
    if (lots_try(k, lot, blocks, bytes))
        return true;
    /* More blocks and fewer bytes at one of the two: one block less is kept; where no churn is left,
     * the bytes of what is kept follow from the sum. */
    uint64_t follows = both > lot->allocated.bytes ? both - lot->allocated.bytes : 0;
    if (blocks > 0 && (lots_try(k, lot, blocks - 1, blocks == 1 ? 0 : bytes) ||
                       (follows <= bytes && lots_try(k, lot, blocks - 1, follows))))
        return true;
    if (lots_try(k, lot, 0, 0))
        return true;
    *k = (struct lots_kinds){.stack = lot->stack};
    k->passing =
        (struct lot_sum){lot->peak.blocks + (lot->peak.blocks == 0 && lot->peak.bytes > 0), lot->peak.bytes};
    k->late =
        (struct lot_sum){lot->end.blocks + (lot->end.blocks == 0 && lot->end.bytes > 0), lot->end.bytes};
    return false;
}

bool lots_is_even(const struct lot *lot)
{
    struct lots_kinds k;
    return lots_split(&k, lot);
}

static int lots_check(const struct lots *l, const struct import_job *job, struct err *err)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < l->list.count; i++) {
        const struct lot *lot = &l->list.data[i];
        const uint64_t numbers[] = {lot->allocated.bytes,  lot->peak.bytes,  lot->end.bytes,
                                    lot->allocated.blocks, lot->peak.blocks, lot->end.blocks};
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
            if (numbers[n] > LOTS_BYTES_MAX || (sum += numbers[n]) > LOTS_BYTES_MAX)
                return err_set(err, ERR_INPUT,
                               "%s tells of more than 2^60 bytes or blocks, which no heap has.",
                               feed_path(job->feed));
        }
    }
    return 0;
}

static int lots_plan(struct lots_plan *p, const struct lots *l, struct err *err)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < l->list.count; i++) {
        struct lot lot = l->list.data[i];
        struct lots_kinds k = {0};
        if (!l->knows_peak)
            lot.peak = lot.end;
        if (!lots_split(&k, &lot))
            p->odd++;
        if (!vec_push(&p->kinds, k))
            return err_no_memory(err);
        p->ceiling += k.kept.bytes + k.passing.bytes;
        p->told += k.churn.blocks + k.kept.blocks + k.passing.blocks + k.late.blocks;
        if (k.churn.blocks > 0 && k.churn.bytes / k.churn.blocks >= largest)
            largest = k.churn.bytes / k.churn.blocks + 1;
    }
    if (!l->knows_peak && p->ceiling < largest)
        p->ceiling = largest;
    return 0;
}

/* ----------------------------------------------------------------------- limit */

static uint64_t lots_shrink(uint64_t blocks, double factor)
{
    uint64_t fewer = (uint64_t)((double)blocks * factor);
    return blocks == 0 || fewer > 0 ? lots_less(fewer, blocks) : 1;
}

/* Makes fewer, larger blocks of a plan that has more than most; those that churn stay below the peak. */
static void lots_limit(struct lots_plan *p, uint64_t most)
{
    double factor = p->told <= most ? 1 : (double)most / (double)p->told;
    for (size_t i = 0; i < p->kinds.count; i++) {
        struct lots_kinds *k = &p->kinds.data[i];
        if (factor < 1) {
            uint64_t least =
                p->ceiling == 0 ? 0 : k->churn.bytes / p->ceiling + (k->churn.bytes % p->ceiling != 0);
            uint64_t fewer = lots_shrink(k->churn.blocks, factor);
            if (fewer < least && least <= k->churn.blocks && least <= most)
                fewer = least;
            k->churn.blocks = fewer;
            k->kept.blocks = lots_shrink(k->kept.blocks, factor);
            k->passing.blocks = lots_shrink(k->passing.blocks, factor);
            k->late.blocks = lots_shrink(k->late.blocks, factor);
        }
        p->churn_total += k->churn.blocks;
        p->made += k->churn.blocks + k->kept.blocks + k->passing.blocks + k->late.blocks;
    }
}

/* ---------------------------------------------------------------------- events */

static void lots_free_pending(struct lots_plan *p)
{
    if (p->has_pending)
        recast_free(p->recast, HOW_FREE, p->pending);
    p->has_pending = false;
}

/* A block; the one that is to be freed goes before it, or where there is room for both, behind it. */
static uint64_t lots_alloc(struct lots_plan *p, uint32_t stack, uint64_t size)
{
    if (p->has_pending && recast_live_bytes(p->recast) + size > p->ceiling)
        lots_free_pending(p);
    uint64_t number = recast_alloc(p->recast, KIND_MALLOC, stack, 0, size, 0);
    lots_free_pending(p);
    return number;
}

static uint64_t lots_size(struct lot_sum s, uint64_t i)
{
    return s.bytes / s.blocks + (i >= s.blocks - s.bytes % s.blocks);
}

static int lots_churn(struct lots_plan *p, const struct lots_kinds *k, uint64_t peak_ns, struct err *err)
{
    int code = 0;
    for (uint64_t i = 0; i < k->churn.blocks && code == 0; i++) {
        uint64_t size = lots_size(k->churn, i);
        recast_clock(p->recast,
                     (uint64_t)((double)peak_ns * ((double)p->churn_done++ / (double)p->churn_total)));
        p->pending = lots_alloc(p, k->stack, size);
        p->has_pending = true;
        if (i % 1024 == 0)
            code = recast_check(p->recast, err);
    }
    return code;
}

static int lots_make(struct lots_plan *p, uint32_t stack, struct lot_sum s, uint64_t *first, struct err *err)
{
    int code = 0;
    for (uint64_t i = 0; i < s.blocks && code == 0; i++) {
        uint64_t number = lots_alloc(p, stack, lots_size(s, i));
        if (i == 0)
            *first = number;
        if (i % 1024 == 0)
            code = recast_check(p->recast, err);
    }
    return code;
}

/* What is live at the peak.  Blocks without bytes come first: the peak is over with the last byte. */
static int lots_build(struct lots_plan *p, bool empty, struct err *err)
{
    int code = 0;
    uint64_t first;
    for (size_t i = 0; i < p->kinds.count && code == 0; i++) {
        struct lots_kinds *k = &p->kinds.data[i];
        if ((k->kept.bytes == 0) == empty)
            code = lots_make(p, k->stack, k->kept, &first, err);
        if (code == 0 && (k->passing.bytes == 0) == empty)
            code = lots_make(p, k->stack, k->passing, &k->passing_first, err);
    }
    return code;
}

static int lots_tell(struct lots_plan *p, const struct lots *l, struct err *err)
{
    int code = 0;
    uint64_t first;
    for (size_t i = 0; i < p->kinds.count && code == 0; i++)
        code = lots_churn(p, &p->kinds.data[i], l->peak_ns, err);
    recast_clock(p->recast, l->peak_ns);
    code = code == 0 ? lots_build(p, true, err) : code;
    code = code == 0 ? lots_build(p, false, err) : code;
    lots_free_pending(p);
    recast_clock(p->recast, l->end_ns);
    for (size_t i = 0; i < p->kinds.count && code == 0; i++) {
        const struct lots_kinds *k = &p->kinds.data[i];
        for (uint64_t n = 0; n < k->passing.blocks; n++)
            recast_free(p->recast, HOW_FREE, k->passing_first + n);
    }
    for (size_t i = 0; i < p->kinds.count && code == 0; i++)
        code = lots_make(p, p->kinds.data[i].stack, p->kinds.data[i].late, &first, err);
    return code == 0 ? recast_check(p->recast, err) : code;
}

int lots_write(struct lots *l, const struct import_job *job, struct err *err)
{
    struct lots_plan p = {.recast = job->recast};
    int code = lots_check(l, job, err);
    if (code == 0)
        code = lots_plan(&p, l, err);
    if (code == 0) {
        lots_limit(&p, job->most_blocks);
        recast_make_up(job->recast);
        recast_note(job->recast,
                    "The source has sums only: blocks are made up that have these sums, all of one "
                    "stack about equally large; lifetimes and temporary blocks are not known.");
        if (!l->knows_peak)
            recast_note(job->recast, "The peak is not known: it is taken to be what was live at the end.");
        if (l->end_ns == 0)
            recast_note(job->recast, "There are no times: everything happens at once.");
        if (p.made < p.told)
            recast_note(
                job->recast,
                "The source tells of %llu blocks, %llu are made (--max-blocks): bytes are right, numbers of "
                "blocks and their sizes are not.",
                (unsigned long long)p.told, (unsigned long long)p.made);
        if (p.odd > 0)
            recast_note(
                job->recast,
                "%llu stacks have more live than was allocated; they are taken as having allocated it.",
                (unsigned long long)p.odd);
        code = lots_tell(&p, l, err);
    }
    vec_release(&p.kinds);
    return code;
}

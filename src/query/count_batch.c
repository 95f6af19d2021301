/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * count_batch: how scan counts a stretch of a block of events: births add to their rows and to the live blocks, releases take
 * their block out of those and count for its row.
 *
 * All births of the stretch come first, in a loop of their own, then all releases.  A release never comes before its
 * birth, so sums are the same; and an event need not be asked which of the two it is, which no predictor can
 * guess where threads take turns.  What the order matters for, the level, is looked at afterwards (query/scan.c).
 */
#include "query/scan.h"

#include "query/ahead.h"
#include "query/checkpoint.h"

/* What is kept of a live block: the loops are compiled for each. */
enum batch_entry {
    BATCH_BRIEF, /* struct scan_brief */
    BATCH_PLAIN, /* struct scan_block */
    BATCH_DATED, /* struct scan_dated */
};

#define BATCH_INLINE inline __attribute__((always_inline))

static BATCH_INLINE size_t batch_size(enum batch_entry entry)
{
    return entry == BATCH_BRIEF   ? sizeof(struct scan_brief)
           : entry == BATCH_PLAIN ? sizeof(struct scan_block)
                                  : sizeof(struct scan_dated);
}

/* ------------------------------------------------------------------ births */

static __attribute__((noinline)) void batch_set_large(struct scan *s, uint64_t number, uint64_t size)
{
    s->failed = !map_set(&s->large, number, size) || s->failed;
}

static __attribute__((noinline)) uint64_t batch_unset_large(struct scan *s, uint64_t number)
{
    uint64_t size = 0;
    (void)map_remove(&s->large, number, &size);
    return size;
}

/* The entry of a new block.  False: no memory. */
static BATCH_INLINE bool batch_add(struct scan *s, uint64_t number, uint32_t i, struct scan_brief brief,
                                   uint64_t born_ns, enum batch_entry entry)
{
    void *block = numbered_add(&s->live, number, batch_size(entry));
    if (block == NULL)
        return false;
    if (entry == BATCH_BRIEF)
        *(struct scan_brief *)block = brief;
    else
        *(struct scan_block *)block =
            (struct scan_block){.born_ns = born_ns, .size = brief.size, .row = brief.row};
    if (entry == BATCH_DATED) {
        struct scan_dated *dated = block;
        dated->slot = s->slot[i];
        dated->made = s->made[i];
    }
    return true;
}

/* What is used of the block and of the scan stands in variables: compilers would read it anew for each event, since stores
 * of bytes may be to anything. */
static BATCH_INLINE void batch_births(struct scan *s, const struct wake_block *b, enum batch_entry entry)
{
    const bool is_plain = entry != BATCH_DATED;
    const uint16_t *births = s->births;
    const uint64_t *numbers = b->number, *sizes = b->size, *times = b->time_ns, epoch = s->tally.level.epoch;
    const uint32_t *stacks = b->stack;
    const size_t stack_count = s->stack_count;
    uint32_t count = s->birth_count, *rows = s->row;
    uint64_t *bytes = s->bytes, rise_bytes = 0, rise_blocks = 0, bits = 0;
    for (uint32_t j = 0; j < count; j++) {
        uint32_t i = births[j];
        uint64_t number = numbers[i], size = sizes[i];
        uint32_t row = stacks[i] < stack_count ? stacks[i] : 0; /* as filter_stack has it */
        if (!is_plain)
            row = tally_find(&s->tally, row, b->thread[i], b->detail[i]);
        struct scan_brief brief = {size < SCAN_LARGE ? (uint32_t)size : SCAN_LARGE, row};
        if ((!is_plain && row == TALLY_NONE) ||
            !batch_add(s, number, i, brief, entry == BATCH_BRIEF ? 0 : times[i], entry)) {
            s->failed = true;
            return;
        }
        if (__builtin_expect(brief.size == SCAN_LARGE, 0))
            batch_set_large(s, number, size);
        struct weight weight = is_plain ? (struct weight){1, size} : weight_of(&s->rule, number, size);
        if (!is_plain)
            s->blocks[i] = weight.blocks;
        rows[i] = row;
        bytes[i] = weight.bytes;
        tally_rise(tally_touch(s->tally.rows.data, epoch, row), weight.blocks, weight.bytes);
        rise_blocks += weight.blocks;
        rise_bytes += weight.bytes;
        bits |= weight.bytes;
    }
    s->has_odd = bits >= SCAN_ODD;
    s->rise_bytes = rise_bytes;
    s->rise_blocks = rise_blocks;
}

/* ---------------------------------------------------------------- releases */

static BATCH_INLINE bool batch_is_temporary(const struct scan *s, const struct scan_dated *dated,
                                            const struct wake_block *b, uint32_t i)
{
    if (dated->slot != s->slot[i])
        return false;
    if (s->temporary_ns != 0)
        return b->time_ns[i] - dated->block.born_ns <= s->temporary_ns;
    return s->filter->knows_order && s->made[i] - dated->made < s->temporary_allocations;
}

/* Releases first..end-1 of the block's list. */
static BATCH_INLINE void batch_releases(struct scan *s, const struct wake_block *b, uint32_t first,
                                        uint32_t end, enum batch_entry entry)
{
    const bool is_plain = entry != BATCH_DATED;
    const uint16_t *releases = b->free_at;
    const uint64_t *numbers = b->number, epoch = s->tally.level.epoch;
    struct tally_row *tally = s->tally.rows.data;
    uint32_t found = s->death_count, *rows = s->row;
    uint16_t *deaths = s->death_at;
    uint64_t *bytes = s->bytes, *born_ns = s->born_ns, fall_bytes = s->fall_bytes,
             fall_blocks = s->fall_blocks;
    for (uint32_t k = first; k < end; k++) {
        uint32_t i = releases[k];
        const void *was = numbered_take(&s->live, numbers[i], batch_size(entry));
        if (was == NULL)
            continue;
        const struct scan_block *block = entry == BATCH_BRIEF ? NULL : was;
        const struct scan_brief *brief = entry == BATCH_BRIEF ? was : NULL;
        uint32_t row = entry == BATCH_BRIEF ? brief->row : block->row;
        uint64_t size = entry == BATCH_BRIEF ? brief->size : block->size;
        if (__builtin_expect(size == SCAN_LARGE, 0))
            size = batch_unset_large(s, numbers[i]);
        struct weight weight = is_plain ? (struct weight){1, size} : weight_of(&s->rule, numbers[i], size);
        if (!is_plain) {
            s->blocks[i] = weight.blocks;
            s->is_newest[i] = batch_is_temporary(s, was, b, i);
        }
        rows[i] = row;
        if (entry != BATCH_BRIEF)
            born_ns[i] = block->born_ns;
        bytes[i] = weight.bytes;
        deaths[found++] = (uint16_t)i;
        tally_fall(tally_touch(tally, epoch, row), weight.blocks, weight.bytes);
        fall_blocks += weight.blocks;
        fall_bytes += weight.bytes;
    }
    s->death_count = found;
    s->fall_bytes = fall_bytes;
    s->fall_blocks = fall_blocks;
}

/* The loops, each in a function of its own: together they would have too few registers. */
typedef void batch_births_fn(struct scan *s, const struct wake_block *b);
typedef void batch_releases_fn(struct scan *s, const struct wake_block *b, uint32_t first, uint32_t end);

static void batch_births_brief(struct scan *s, const struct wake_block *b)
{
    batch_births(s, b, BATCH_BRIEF);
}

static void batch_births_plain(struct scan *s, const struct wake_block *b)
{
    batch_births(s, b, BATCH_PLAIN);
}

static void batch_births_dated(struct scan *s, const struct wake_block *b)
{
    batch_births(s, b, BATCH_DATED);
}

static void batch_releases_brief(struct scan *s, const struct wake_block *b, uint32_t first, uint32_t end)
{
    batch_releases(s, b, first, end, BATCH_BRIEF);
}

static void batch_releases_plain(struct scan *s, const struct wake_block *b, uint32_t first, uint32_t end)
{
    batch_releases(s, b, first, end, BATCH_PLAIN);
}

static void batch_releases_dated(struct scan *s, const struct wake_block *b, uint32_t first, uint32_t end)
{
    batch_releases(s, b, first, end, BATCH_DATED);
}

static const struct batch_loops {
    batch_births_fn *births;
    batch_releases_fn *releases;
    size_t size;
} batch_loops[] = {
    [BATCH_BRIEF] = {batch_births_brief, batch_releases_brief, sizeof(struct scan_brief)},
    [BATCH_PLAIN] = {batch_births_plain, batch_releases_plain, sizeof(struct scan_block)},
    [BATCH_DATED] = {batch_births_dated, batch_releases_dated, sizeof(struct scan_dated)},
};

/* ----------------------------------------------------------------- a block */

/* Of blocks that an earlier file of the series has made numbers may be any; else allocations are numbered one by one, and
 * 64 share a word. */
static void batch_choose(struct scan *s, const struct wake_block *b)
{
    uint64_t word = 0, held = UINT64_MAX;
    uint32_t kept = 0;
    for (uint32_t j = 0; j < b->match_count; j++) {
        uint64_t number = b->number[b->match_at[j]];
        if (number / 64 != held) {
            word = bitset_word(s->chosen, number);
            held = number / 64;
        }
        s->kept[kept] = b->match_at[j];
        kept += word >> number % 64 & 1;
    }
    s->match_at = s->kept;
    s->match_count = kept;
}

void count_batch_begin(struct scan *s, const struct wake_block *b)
{
    s->next_birth = s->next_free = 0;
    s->match_at = b->match_at;
    s->match_count = b->match_count;
    if (s->chosen != NULL)
        batch_choose(s, b);
    if (s->filter->start != NULL && !b->is_carried && !s->is_restored) {
        checkpoint_restore(s->filter->start, &s->slots);
        s->is_restored = true;
    }
    if (!s->is_plain)
        slots_count_made(&s->slots, b, s->slot, s->made);
    else if (s->asks_newest)
        slots_find_newest(&s->slots, b, s->is_newest);
}

/* How many of a list are less than `end`. */
static uint32_t batch_find(const uint16_t *list, uint32_t low, uint32_t high, uint32_t end)
{
    if (low == high || list[high - 1] < end)
        return high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void count_batch_until(struct scan *s, const struct wake_block *b, uint32_t end)
{
    const struct batch_loops *loops = &batch_loops[!s->is_plain  ? BATCH_DATED
                                                   : s->is_timed ? BATCH_PLAIN
                                                                 : BATCH_BRIEF];
    uint32_t births = batch_find(s->match_at, s->next_birth, s->match_count, end);
    uint32_t frees = batch_find(b->free_at, s->next_free, b->free_count, end);
    s->births = s->match_at + s->next_birth;
    s->birth_count = births - s->next_birth;
    loops->births(s, b);
    s->fall_bytes = s->fall_blocks = 0;
    s->death_count = 0;
    for (uint32_t k = s->next_free, stop; k < frees && !s->failed; k = stop) {
        stop = ahead_step(&s->live, b, k, frees, loops->size);
        loops->releases(s, b, k, stop);
    }
    s->next_birth = births;
    s->next_free = frees;
}

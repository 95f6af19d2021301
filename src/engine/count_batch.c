/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * count_batch: how scan counts a stretch of a block of events: births add to their rows and to the live blocks, releases take
 * their block out of those and count for its row.
 *
 * All births of the stretch come first, in a loop of their own, then all releases.  A release never comes before its
 * birth, so sums are the same; and an event need not be asked which of the two it is, which no predictor can
 * guess where threads take turns.  What the order matters for, the level, is looked at afterwards (engine/scan.c).
 */
#include "engine/scan.h"

#include "engine/checkpoint.h"
#include "engine/prefetch.h"

#define BATCH_INLINE inline __attribute__((always_inline))

/* What is kept of a live block; the loops are compiled for both. */
static BATCH_INLINE size_t batch_size(bool is_plain)
{
    return is_plain ? sizeof(struct scan_block) : sizeof(struct scan_dated);
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

/* What is used of the block and of the scan stands in variables: compilers would read it anew for each event, since stores
 * of bytes may be to anything. */
static BATCH_INLINE void batch_births(struct scan *s, const struct wake_block *b, bool is_plain)
{
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
        struct scan_block *block =
            !is_plain && row == TALLY_NONE ? NULL : numbered_add(&s->live, number, batch_size(is_plain));
        if (block == NULL) {
            s->failed = true;
            return;
        }
        *block = (struct scan_block){times[i], size < SCAN_LARGE ? (uint32_t)size : SCAN_LARGE, row};
        if (__builtin_expect(block->size == SCAN_LARGE, 0))
            batch_set_large(s, number, size);
        if (!is_plain) {
            ((struct scan_dated *)block)->slot = s->slot[i];
            ((struct scan_dated *)block)->made = s->made[i];
        }
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
                                        uint32_t end, bool is_plain)
{
    const uint16_t *releases = b->free_at;
    const uint64_t *numbers = b->number, epoch = s->tally.level.epoch;
    struct tally_row *tally = s->tally.rows.data;
    uint32_t found = s->death_count, *rows = s->row;
    uint16_t *deaths = s->death_at;
    uint64_t *bytes = s->bytes, *born_ns = s->born_ns, fall_bytes = s->fall_bytes,
             fall_blocks = s->fall_blocks;
    for (uint32_t k = first; k < end; k++) {
        uint32_t i = releases[k];
        const struct scan_block *was = numbered_take(&s->live, numbers[i], batch_size(is_plain));
        if (was == NULL)
            continue;
        uint32_t row = was->row;
        uint64_t size = was->size;
        if (__builtin_expect(size == SCAN_LARGE, 0))
            size = batch_unset_large(s, numbers[i]);
        struct weight weight = is_plain ? (struct weight){1, size} : weight_of(&s->rule, numbers[i], size);
        if (!is_plain) {
            s->blocks[i] = weight.blocks;
            s->is_newest[i] = batch_is_temporary(s, (const struct scan_dated *)was, b, i);
        }
        rows[i] = row;
        born_ns[i] = was->born_ns;
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
static __attribute__((noinline)) void batch_births_plain(struct scan *s, const struct wake_block *b)
{
    batch_births(s, b, true);
}

static __attribute__((noinline)) void batch_births_dated(struct scan *s, const struct wake_block *b)
{
    batch_births(s, b, false);
}

static __attribute__((noinline)) void batch_releases_plain(struct scan *s, const struct wake_block *b,
                                                           uint32_t first, uint32_t end)
{
    batch_releases(s, b, first, end, true);
}

static __attribute__((noinline)) void batch_releases_dated(struct scan *s, const struct wake_block *b,
                                                           uint32_t first, uint32_t end)
{
    batch_releases(s, b, first, end, false);
}

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
        thread_states_count_made(&s->slots, b, s->slot, s->made);
    else if (s->asks_newest)
        thread_states_find_newest(&s->slots, b, s->is_newest);
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
    uint32_t births = batch_find(s->match_at, s->next_birth, s->match_count, end);
    uint32_t frees = batch_find(b->free_at, s->next_free, b->free_count, end);
    s->births = s->match_at + s->next_birth;
    s->birth_count = births - s->next_birth;
    if (s->is_plain)
        batch_births_plain(s, b);
    else
        batch_births_dated(s, b);
    s->fall_bytes = s->fall_blocks = 0;
    s->death_count = 0;
    for (uint32_t k = s->next_free, stop; k < frees && !s->failed; k = stop) {
        stop = prefetch_step(&s->live, b, k, frees, batch_size(s->is_plain));
        if (s->is_plain)
            batch_releases_plain(s, b, k, stop);
        else
            batch_releases_dated(s, b, k, stop);
    }
    s->next_birth = births;
    s->next_free = frees;
}

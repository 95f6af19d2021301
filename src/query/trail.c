/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * trail: see trail.h.  The loops take no branch that depends on the event but the one for rarities:
 * whether a row counts and whether it rises or falls is anybody's guess.
 *
 * Of a small set most words are not looked at twice: a first loop notes where those of the set are, some
 * thousand words at a time, and a second one follows them.
 */
#include "query/trail.h"

#include <stdlib.h>
#include <string.h>

#include "tool/memory.h"

#define TRAIL_INLINE inline __attribute__((always_inline))

enum {
    TRAIL_TIME = 0, /* low bits of a rarity */
    TRAIL_MADE = 1,
    TRAIL_GONE = 2,
    TRAIL_BITS_MIN = 8, /* of a size */
    TRAIL_BITS_MAX = 24,
    TRAIL_STRIDE = 16,  /* events that are compared at once */
    TRAIL_RARE_MAX = 3, /* words that a time or a long event takes beyond that of the event */
    TRAIL_PICK = 4096,  /* words that are looked through at once */
};

/* All ones where the row is. */
static inline uint32_t trail_rare(unsigned bits)
{
    return (UINT32_C(1) << 31) - (UINT32_C(1) << bits);
}

bool trail_init(struct trail *t, size_t rows, size_t words)
{
    unsigned bits = TRAIL_BITS_MAX;
    while (bits >= TRAIL_BITS_MIN && rows >= trail_rare(bits) >> bits)
        bits--;
    *t = (struct trail){.bits = bits, .capacity = words, .time_ns = TRAIL_NEVER};
    t->words = bits < TRAIL_BITS_MIN ? NULL : memory_new_large(words * sizeof *t->words);
    return t->words != NULL;
}

void trail_release(struct trail *t)
{
    free(t->words);
    *t = (struct trail){0};
}

static void trail_push(struct trail *t, uint32_t word)
{
    t->words[t->count++] = word;
}

static void trail_push_two(struct trail *t, uint64_t value)
{
    trail_push(t, (uint32_t)value);
    trail_push(t, (uint32_t)(value >> 32));
}

static void trail_turn(struct trail *t, uint64_t time_ns)
{
    uint64_t ns = time_ns - t->time_ns, nothing = (UINT64_C(1) << t->bits) - 1;
    if (t->time_ns != TRAIL_NEVER && ns < nothing) {
        trail_push(t, TRAIL_FALLS | trail_rare(t->bits) | (uint32_t)ns);
    } else {
        trail_push(t, trail_rare(t->bits) | TRAIL_TIME);
        trail_push_two(t, time_ns);
    }
    t->time_ns = time_ns;
}

static void trail_push_long(struct trail *t, const struct trail_long *l)
{
    trail_push(t, trail_rare(t->bits) | (l->falls ? TRAIL_GONE : TRAIL_MADE));
    trail_push(t, l->row);
    trail_push_two(t, l->size);
}

/* The end of a run of equal times, which never fall: most often a long one. */
static size_t trail_find_turn(const uint64_t *time_ns, size_t from, size_t count)
{
    size_t at = from + 1;
    while (at + TRAIL_STRIDE <= count && time_ns[at + TRAIL_STRIDE - 1] == time_ns[from])
        at += TRAIL_STRIDE;
    while (at < count && time_ns[at] == time_ns[from])
        at++;
    return at;
}

bool trail_add(struct trail *t, const uint32_t *steps, const uint64_t *time_ns, size_t count,
               const struct trail_long *longs, size_t long_count)
{
    size_t next = 0;
    for (size_t i = 0, end; i < count; i = end) {
        end = trail_find_turn(time_ns, i, count);
        if (t->capacity - t->count < end - i + (long_count - next + 1) * TRAIL_RARE_MAX)
            return false;
        if (time_ns[i] != t->time_ns)
            trail_turn(t, time_ns[i]);
        while (i < end) {
            size_t stop = next < long_count && longs[next].at < end ? longs[next].at : end;
            memcpy(t->words + t->count, steps + i, (stop - i) * sizeof *steps);
            t->count += stop - i;
            i = stop;
            if (i < end) {
                trail_push_long(t, &longs[next++]);
                i++;
            }
        }
    }
    return true;
}

/* What a word says. */
struct trail_step {
    uint64_t size;
    uint32_t row;
    bool falls, is_time;
};

/* A rarity at words[*at], which moves behind it. */
static __attribute__((noinline)) struct trail_step trail_take(const struct trail *t, size_t *at,
                                                              uint64_t *time_ns)
{
    uint32_t word = t->words[(*at)++], low = word & ((UINT32_C(1) << t->bits) - 1);
    const uint32_t *more = t->words + *at;
    if (word >> 31 != 0) {
        *time_ns += word == TRAIL_NONE ? 0 : low;
        return (struct trail_step){.is_time = true};
    }
    if (low == TRAIL_TIME) {
        *time_ns = more[0] | (uint64_t)more[1] << 32;
        *at += 2;
        return (struct trail_step){.is_time = true};
    }
    *at += 3;
    return (struct trail_step){
        .row = more[0], .size = more[1] | (uint64_t)more[2] << 32, .falls = low == TRAIL_GONE};
}

/* What changes with every event, in registers.  Rises and falls are added up with and without their
 * sign, which tells what was made and what has gone. */
struct trail_run {
    uint64_t bytes, blocks;
    uint64_t highest_bytes, highest_blocks;
    uint64_t moved_bytes, moved_blocks;
};

static TRAIL_INLINE void trail_step(struct trail_run *r, uint64_t size, uint64_t one, uint64_t falls)
{
    uint64_t sign = 0 - falls;
    r->bytes += (size ^ sign) - sign;
    r->blocks += (one ^ sign) - sign;
    r->moved_bytes += size;
    r->moved_blocks += one;
    r->highest_bytes = r->bytes > r->highest_bytes ? r->bytes : r->highest_bytes;
    r->highest_blocks = r->blocks > r->highest_blocks ? r->blocks : r->highest_blocks;
}

static TRAIL_INLINE struct trail_run trail_run_begin(const struct trail_level *l)
{
    return (struct trail_run){l->bytes, l->blocks, l->highest_bytes, l->highest_blocks, 0, 0};
}

static void trail_note(struct trail_level *l, const struct trail_run *r)
{
    uint64_t made_bytes = (r->moved_bytes + r->bytes - l->bytes) / 2;
    uint64_t made_blocks = (r->moved_blocks + r->blocks - l->blocks) / 2;
    l->made_bytes += made_bytes;
    l->made_blocks += made_blocks;
    l->gone_blocks += r->moved_blocks - made_blocks;
    l->bytes = r->bytes;
    l->blocks = r->blocks;
    l->highest_bytes = r->highest_bytes;
    l->highest_blocks = r->highest_blocks;
}

/* Steps from word i on up to the next rarity, or to `to`. */
static TRAIL_INLINE size_t trail_run(const struct trail *t, size_t i, size_t to, struct trail_level *l,
                                     const uint32_t *mask)
{
    const uint32_t *words = t->words, rare = trail_rare(t->bits), sizes = (UINT32_C(1) << t->bits) - 1;
    const unsigned bits = t->bits;
    struct trail_run r = trail_run_begin(l);
    for (; i < to && (words[i] & rare) != rare; i++) {
        uint32_t counts = mask == NULL ? UINT32_MAX : mask[(words[i] & rare) >> bits];
        trail_step(&r, words[i] & sizes & counts, counts & 1, words[i] >> 31);
    }
    trail_note(l, &r);
    return i;
}

static void trail_add_step(struct trail_level *l, const struct trail_step *step)
{
    if (step->falls) {
        l->bytes -= step->size;
        l->blocks--;
        l->gone_blocks++;
        return;
    }
    l->bytes += step->size;
    l->blocks++;
    l->made_bytes += step->size;
    l->made_blocks++;
    l->highest_bytes = l->bytes > l->highest_bytes ? l->bytes : l->highest_bytes;
    l->highest_blocks = l->blocks > l->highest_blocks ? l->blocks : l->highest_blocks;
}

static void trail_follow_all(const struct trail *t, size_t from, size_t to, struct trail_level *level,
                             const uint32_t *mask, uint64_t moment, trail_moment_fn *at_moment, void *context)
{
    for (size_t i = from; i < to;) {
        i = mask == NULL ? trail_run(t, i, to, level, NULL) : trail_run(t, i, to, level, mask);
        if (i == to)
            break;
        struct trail_step step = trail_take(t, &i, &level->time_ns);
        if (!step.is_time && (mask == NULL || mask[step.row] != 0))
            trail_add_step(level, &step);
        while (step.is_time && moment != UINT64_MAX && level->time_ns >= moment)
            moment = at_moment(level, context);
    }
}

static uint64_t trail_find_masked(const struct trail *t, size_t from, size_t to, const uint32_t *mask,
                                  uint64_t bytes)
{
    const uint32_t *words = t->words, rare = trail_rare(t->bits), sizes = (UINT32_C(1) << t->bits) - 1;
    const unsigned bits = t->bits;
    uint64_t highest = bytes, time_ns = 0;
    for (size_t i = from; i < to;) {
        for (; i < to && (words[i] & rare) != rare; i++) {
            uint64_t size = words[i] & sizes & mask[(words[i] & rare) >> bits];
            uint64_t sign = 0 - (uint64_t)(words[i] >> 31);
            bytes += (size ^ sign) - sign;
            highest = bytes > highest ? bytes : highest;
        }
        if (i == to)
            break;
        struct trail_step step = trail_take(t, &i, &time_ns);
        if (!step.is_time && mask[step.row] != 0)
            bytes += step.falls ? 0 - step.size : step.size;
        highest = bytes > highest ? bytes : highest;
    }
    return highest;
}

/* ---------------------------------------------------------------- small sets */

static TRAIL_INLINE size_t trail_pick_one(const uint32_t *words, size_t i, unsigned bits,
                                          const uint8_t *picks, uint16_t *at, size_t found)
{
    at[found] = (uint16_t)i;
    return found + picks[words[i] >> bits];
}

/* Where in words[0..count-1] those are that are picked; what belongs to a rarity may be among them.  How many. */
static size_t trail_pick(const uint32_t *words, size_t count, unsigned bits, const uint8_t *picks,
                         uint16_t *at)
{
    size_t found = 0, i = 0;
    for (; i + 4 <= count; i += 4) {
        found = trail_pick_one(words, i, bits, picks, at, found);
        found = trail_pick_one(words, i + 1, bits, picks, at, found);
        found = trail_pick_one(words, i + 2, bits, picks, at, found);
        found = trail_pick_one(words, i + 3, bits, picks, at, found);
    }
    for (; i < count; i++)
        found = trail_pick_one(words, i, bits, picks, at, found);
    return found;
}

static void trail_follow_picked(const struct trail *t, size_t from, size_t to, struct trail_level *level,
                                const uint8_t *picks, uint64_t moment, trail_moment_fn *at_moment,
                                void *context)
{
    const uint32_t rare = trail_rare(t->bits), sizes = (UINT32_C(1) << t->bits) - 1;
    uint16_t at[TRAIL_PICK];
    for (size_t base = from, next = from; base < to; base = next) {
        size_t count = to - base < TRAIL_PICK ? to - base : TRAIL_PICK;
        size_t found = trail_pick(t->words + base, count, t->bits, picks, at);
        struct trail_run r = trail_run_begin(level);
        for (size_t k = 0; k < found; k++) {
            size_t i = base + at[k];
            uint32_t word = t->words[i];
            if (__builtin_expect((word & rare) != rare, 1) && i >= next) {
                trail_step(&r, word & sizes, 1, word >> 31);
                continue;
            }
            if (i < next) /* the rest of a rarity */
                continue;
            trail_note(level, &r);
            next = i;
            struct trail_step step = trail_take(t, &next, &level->time_ns);
            if (!step.is_time && picks[step.row] != 0)
                trail_add_step(level, &step);
            while (step.is_time && moment != UINT64_MAX && level->time_ns >= moment)
                moment = at_moment(level, context);
            r = trail_run_begin(level);
        }
        trail_note(level, &r);
        next = next > base + count ? next : base + count;
    }
}

static uint64_t trail_find_picked(const struct trail *t, size_t from, size_t to, const uint8_t *picks,
                                  uint64_t bytes)
{
    const uint32_t rare = trail_rare(t->bits), sizes = (UINT32_C(1) << t->bits) - 1;
    uint64_t highest = bytes, time_ns = 0;
    uint16_t at[TRAIL_PICK];
    for (size_t base = from, next = from; base < to; base = next) {
        size_t count = to - base < TRAIL_PICK ? to - base : TRAIL_PICK;
        size_t found = trail_pick(t->words + base, count, t->bits, picks, at);
        for (size_t k = 0; k < found; k++) {
            size_t i = base + at[k];
            uint32_t word = t->words[i];
            uint64_t size = word & sizes, falls = word >> 31;
            if (i < next)
                continue;
            if (__builtin_expect((word & rare) == rare, 0)) {
                next = i;
                struct trail_step step = trail_take(t, &next, &time_ns);
                size = !step.is_time && picks[step.row] != 0 ? step.size : 0;
                falls = step.falls;
            }
            bytes += falls != 0 ? 0 - size : size;
            highest = bytes > highest ? bytes : highest;
        }
        next = next > base + count ? next : base + count;
    }
    return highest;
}

/* ----------------------------------------------------------------- any set */

bool trail_set_init(struct trail_set *set, const struct trail *t, const uint8_t *allowed, size_t rows,
                    bool is_small)
{
    size_t codes = (trail_rare(t->bits) >> t->bits) + 1;
    *set = (struct trail_set){0};
    if (is_small)
        set->picks = memory_new_zeroed(2 * codes, sizeof *set->picks);
    else
        set->mask = memory_new(rows * sizeof *set->mask);
    if (set->picks == NULL && set->mask == NULL)
        return false;
    for (size_t i = 0; i < rows; i++)
        if (is_small)
            set->picks[i] = set->picks[codes + i] = allowed[i] != 0;
        else
            set->mask[i] = allowed[i] != 0 ? UINT32_MAX : 0;
    if (is_small)
        set->picks[codes - 1] = set->picks[2 * codes - 1] = 1;
    return true;
}

void trail_set_release(struct trail_set *set)
{
    free(set->mask);
    free(set->picks);
    *set = (struct trail_set){0};
}

void trail_follow(const struct trail *t, size_t from, size_t to, struct trail_level *level,
                  const struct trail_set *set, uint64_t moment, trail_moment_fn *at_moment, void *context)
{
    if (set != NULL && set->picks != NULL)
        trail_follow_picked(t, from, to, level, set->picks, moment, at_moment, context);
    else
        trail_follow_all(t, from, to, level, set == NULL ? NULL : set->mask, moment, at_moment, context);
}

uint64_t trail_find_highest(const struct trail *t, size_t from, size_t to, const struct trail_set *set,
                            uint64_t bytes)
{
    return set->picks != NULL ? trail_find_picked(t, from, to, set->picks, bytes)
                              : trail_find_masked(t, from, to, set->mask, bytes);
}

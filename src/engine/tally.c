/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tally: see tally.h.
 */
#include "engine/tally.h"

#include "tool/memory.h"

static const struct tally_row tally_fresh = {.last_ns = TALLY_NEVER, .lifetime_min_ns = TALLY_NEVER};

bool tally_init(struct tally *t, enum query_split split, size_t stacks)
{
    *t = (struct tally){.split = split, .latest_row = TALLY_NONE};
    map_init(&t->index);
    if (split != SPLIT_NONE)
        return true;
    t->rows.data = memory_new_large(stacks * sizeof *t->rows.data);
    if (t->rows.data == NULL)
        return false;
    t->rows.capacity = stacks;
    for (uint32_t i = 0; i < stacks; i++) {
        t->rows.data[i] = tally_fresh;
        t->rows.data[i].stack = i;
    }
    t->rows.count = stacks;
    return true;
}

void tally_release(struct tally *t)
{
    vec_release(&t->rows);
    map_release(&t->index);
}

uint32_t tally_add(struct tally *t, uint64_t key)
{
    struct tally_row fresh = tally_fresh;
    fresh.stack = (uint32_t)(key >> 32);
    fresh.part = (uint32_t)key;
    size_t row = t->rows.count;
    if (row >= TALLY_NONE || !vec_push(&t->rows, fresh))
        return TALLY_NONE;
    if (!map_set(&t->index, key, row)) {
        t->rows.count--;
        return TALLY_NONE;
    }
    return (uint32_t)row;
}

void tally_open(struct tally *t, uint64_t time_ns)
{
    for (size_t i = 0; i < t->rows.count; i++) {
        struct tally_row *r = &t->rows.data[i];
        r->allocated_blocks = 0 - r->made_blocks;
        r->allocated_bytes = 0 - r->made_bytes;
        r->freed_blocks = 0 - r->gone_blocks;
        r->freed_bytes = 0 - r->gone_bytes;
    }
    tally_peak(&t->level, time_ns);
}

void tally_close(struct tally *t)
{
    for (size_t i = 0; i < t->rows.count; i++) {
        struct tally_row *r = &t->rows.data[i];
        r->allocated_blocks += r->made_blocks;
        r->allocated_bytes += r->made_bytes;
        r->freed_blocks += r->gone_blocks;
        r->freed_bytes += r->gone_bytes;
    }
}

void tally_note_live(struct tally *t)
{
    for (size_t i = 0; i < t->rows.count; i++) {
        struct tally_row *r = &t->rows.data[i];
        r->noted_blocks = r->made_blocks - r->gone_blocks;
        r->noted_bytes = r->made_bytes - r->gone_bytes;
    }
}

void tally_keep_peak(struct tally_row *r, uint64_t epoch)
{
    r->peak_blocks = r->made_blocks - r->gone_blocks;
    r->peak_bytes = r->made_bytes - r->gone_bytes;
    r->epoch = epoch;
}

void tally_settle(struct tally *t)
{
    for (uint32_t i = 0; i < t->rows.count; i++)
        (void)tally_touch(t->rows.data, t->level.epoch, i);
}

struct metrics tally_get(const struct tally_row *r)
{
    return (struct metrics){
        .allocated_blocks = r->allocated_blocks,
        .allocated_bytes = r->allocated_bytes,
        .freed_blocks = r->freed_blocks,
        .freed_bytes = r->freed_bytes,
        .peak_blocks = r->peak_blocks,
        .peak_bytes = r->peak_bytes,
        .live_blocks = r->noted_blocks,
        .live_bytes = r->noted_bytes,
        .leaked_blocks = r->leaked_blocks,
        .leaked_bytes = r->leaked_bytes,
        .temporary_blocks = r->temporary_blocks,
        .temporary_bytes = r->temporary_bytes,
        .slack_bytes = r->slack_bytes,
        .lifetime_min_ns = r->freed_blocks == 0 ? 0 : r->lifetime_min_ns,
        .lifetime_max_ns = r->lifetime_max_ns,
        .lifetime_median_ns = r->lifetime_median_ns,
        .first_ns = r->allocated_blocks == 0 ? 0 : r->first_ns,
        .last_ns = r->allocated_blocks == 0 ? 0 : r->last_ns,
    };
}

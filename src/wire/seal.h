/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * seal: checksums of a spool (wire/segment.h). Nobody gives a spool's chunks back, so next[] has no list to hold:
 *
 *     next[chunk]      0, or the sum of the words of the chunk from the first on, up to the end of a record:
 *                      its LINK, when the next chunk was begun; its last record, when the process ended
 *     segment_head.seal  0, or the sum of what is not in chunks, when the process ended: the part of the head
 *                      that is written once, the facts below, the text, lanes[0 .. lane_count), next[0 .. fresh)
 *
 * What was written behind a sealed record is not vouched for. A sum is never 0. It is for disks and cables, no defence
 * against whoever wants it to fit: words go by turns into two chains of 64 bits, of which 32 are kept.
 */
#ifndef HW_WIRE_SEAL_H
#define HW_WIRE_SEAL_H

#include "wire/segment.h"

#include <stddef.h>
#include <stdint.h>

struct seal {
    uint64_t latest, other;
};

static inline struct seal seal_begin(void)
{
    return (struct seal){UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xd6e8feb86659fd93)};
}

/* Whatever becomes of one word shows in its chain for good: each step can be undone. */
static inline uint64_t seal_mix(uint64_t chain, uint64_t word)
{
    uint64_t mixed = (chain ^ word) * UINT64_C(0x9fb21c651e98df25);
    return mixed << 29 | mixed >> 35;
}

static inline void seal_add(struct seal *s, uint64_t word)
{
    uint64_t mixed = seal_mix(s->other, word);
    s->other = s->latest;
    s->latest = mixed;
}

static inline uint32_t seal_get(const struct seal *s)
{
    uint64_t mixed = (s->latest ^ (s->other << 32 | s->other >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t sum = (uint32_t)(mixed >> 32);
    return sum == 0 ? 1 : sum;
}

/* Of so many words, from the first word of a chunk on. */
static inline uint32_t seal_chunk(const uint64_t *words, size_t count)
{
    struct seal s = seal_begin();
    size_t pairs = count & ~(size_t)1;
#pragma GCC unroll 4
    for (size_t i = 0; i < pairs; i += 2) {
        s.other = seal_mix(s.other, words[i]);
        s.latest = seal_mix(s.latest, words[i + 1]);
    }
    if (pairs != count)
        seal_add(&s, words[pairs]);
    return seal_get(&s);
}

typedef uint64_t __attribute__((may_alias)) seal_word;

static inline void seal_add_bytes(struct seal *s, const void *base, size_t from, size_t to)
{
    for (const seal_word *at = (const void *)((const char *)base + from),
                         *end = (const void *)((const char *)base + to);
         at < end; at++)
        seal_add(s, *at);
}

/* head: as it lies in the segment, its text behind it. lanes, chunks: how many entries of the tables count. */
static inline uint32_t seal_head(const struct segment_head *head, const uint32_t *lanes, uint32_t lane_count,
                                 const uint32_t *next, uint32_t chunks)
{
    const uint64_t facts[] = {head->fresh,         head->lane_count,  head->lost_events, head->lost_nested,
                              head->stopped,       head->stop_reason, head->has_gaps,    head->exec_ns,
                              head->filter_offset, head->unfollowed};
    struct seal s = seal_begin();
    seal_add_bytes(&s, head, 0, offsetof(struct segment_head, clock));
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        seal_add(&s, facts[i]);
    seal_add_bytes(&s, head, offsetof(struct segment_head, job),
                   offsetof(struct segment_head, filter_offset));
    seal_add_bytes(&s, head, SEGMENT_HEAD_SIZE, SEGMENT_HEAD_SIZE + SEGMENT_TEXT_SIZE);
    for (uint32_t i = 0; i < lane_count; i++)
        seal_add(&s, lanes[i]);
    for (uint32_t i = 0; i < chunks; i++)
        seal_add(&s, next[i]);
    return seal_get(&s);
}

#endif

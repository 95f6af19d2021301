/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * seals: see seals.h.
 *
 *     chunk: |CHUNK|record|record|....|record|0000    next[chunk] = sum up to here: all of it is sealed
 *                          ^ or up to here: what follows came later, and is unchecked
 *
 * What is unchecked or damaged is read all the same, as far as it makes sense.
 */
#include "collect/seals.h"

#include "collect/drain.h"
#include "collect/shape.h"
#include "tool/memory.h"
#include "wire/record.h"
#include "wire/seal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words of the record there; 0: there is none that makes sense. */
static uint32_t seals_step(const uint64_t *words, uint32_t at)
{
    uint32_t length = words[at] == 0 ? 0 : shape_measure(words[at]);
    return length > SEGMENT_CHUNK_WORDS - at ? 0 : length;
}

/* Words of the chunk that are records, to its LINK at most; *link: the chunk behind it + 1, 0 = none. */
static uint32_t seals_measure(const uint64_t *words, uint32_t *link)
{
    uint32_t at = 0, length;
    *link = 0;
    while (*link == 0 && at < SEGMENT_CHUNK_WORDS && (length = seals_step(words, at)) != 0) {
        if ((words[at] & 0xff) == RECORD_LINK)
            *link = (uint32_t)(words[at] >> 32) + 1;
        at += length;
    }
    return at;
}

/* How many words the sum vouches for; 0: it fits none. */
static uint32_t seals_find(const uint64_t *words, uint32_t count, uint32_t sum)
{
    struct seal s = seal_begin();
    if (seal_chunk(words, count) == sum)
        return count;
    for (uint32_t at = 0, length; at < count; at += length) {
        length = seals_step(words, at);
        for (uint32_t i = at; i < at + length; i++)
            seal_add(&s, words[i]);
        if (seal_get(&s) == sum)
            return at + length;
    }
    return 0;
}

static uint64_t seals_count_events(const uint64_t *words, uint32_t from, uint32_t to)
{
    uint64_t count = 0;
    for (uint32_t at = from; at < to; at += seals_step(words, at))
        count += drain_is_event(words[at]);
    return count;
}

/* One chunk of a lane. The chunk behind it + 1; 0: it is the last. */
static uint32_t seals_read_chunk(struct seals *s, const struct view *view, uint32_t chunk)
{
    const uint64_t *words = view_chunk(view, chunk);
    uint32_t link, count = seals_measure(words, &link), sum = view->next[chunk];
    uint32_t sealed = sum == 0 ? 0 : seals_find(words, count, sum);
    s->chunks++;
    if (sum != 0 && sealed == 0) {
        s->damaged++;
    } else if (sealed < count || (link == 0 && count < SEGMENT_CHUNK_WORDS && words[count] != 0)) {
        s->open++;
        s->unchecked += seals_count_events(words, sealed, count);
    }
    return link;
}

static uint32_t seals_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void seals_read_head(struct seals *s, const struct view *view)
{
    const struct segment_head *head = view->head;
    uint32_t lanes = seals_least(head->lane_count, view->fixed.lane_max), sum = head->seal;
    s->is_closed = sum != 0;
    /* A file that was cut has more chunks than it holds. */
    s->is_head_damaged =
        s->is_closed && (head->fresh > view->fixed.chunk_max ||
                         seal_head(head, view->lanes, lanes, view->next, head->fresh) != sum);
}

bool seals_read(struct seals *s, const struct view *view)
{
    uint32_t chunk_max = view->fixed.chunk_max, fresh = seals_least(view->head->fresh, chunk_max);
    uint32_t lanes = seals_least(view->head->lane_count, view->fixed.lane_max);
    memset(s, 0, sizeof *s);
    uint8_t *seen = memory_new_zeroed(chunk_max + 1, 1);
    if (seen == NULL)
        return false;
    seals_read_head(s, view);
    for (uint32_t i = 0; i < lanes; i++) {
        for (uint32_t next = view->lanes[i]; next != 0 && next <= chunk_max && !seen[next - 1];) {
            seen[next - 1] = 1;
            next = seals_read_chunk(s, view, next - 1);
        }
    }
    /* One that was about to be handed out has its first word at most. */
    for (uint32_t i = 0; i < fresh; i++)
        s->damaged += !seen[i] && (view->next[i] != 0 || view_chunk(view, i)[1] != 0);
    free(seen);
    return true;
}

void seals_note(const struct seals *s, struct wake_writer *writer)
{
    char text[300];
    int length = 0;
    if (s->is_head_damaged || s->damaged != 0)
        length = snprintf(text, sizeof text,
                          "The spool is damaged: %s%u of %u chunks do not match their checksums. What they "
                          "hold was read as "
                          "it is, and figures may be wrong.",
                          s->is_head_damaged ? "its head and " : "", s->damaged, s->chunks);
    if (length != 0)
        wake_writer_add_note(writer, text, (size_t)length);
    length = 0;
    if (!s->is_closed)
        length =
            snprintf(text, sizeof text,
                     "The spool has no seal at its end, because the program was killed or still runs: %llu "
                     "allocations and releases are not covered by a checksum.",
                     (unsigned long long)s->unchecked);
    else if (s->open != 0)
        length = snprintf(text, sizeof text,
                          "%llu allocations and releases in %u chunks of the spool came after the seal at "
                          "its end: they are "
                          "not covered by a checksum.",
                          (unsigned long long)s->unchecked, s->open);
    if (length != 0)
        wake_writer_add_note(writer, text, (size_t)length);
}

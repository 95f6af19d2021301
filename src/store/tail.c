/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tail: see tail.h.
 *
 *     ... | index | index | end |
 *         ^ offset in the end chunk
 */
#include "store/tail.h"

#include "store/format.h"

enum {
    TAIL_INDEX_STEP = 64 << 10, /* entries in an index chunk */
};

/* Writes the header before a payload that stands behind it already. */
static void tail_put_header(uint8_t *head, unsigned type, unsigned flags, uint32_t process, uint32_t raw,
                            uint32_t stored)
{
    chunk_header_encode(head, &(struct chunk_header){
                                  .type = (uint16_t)type,
                                  .flags = (uint16_t)flags,
                                  .process = process,
                                  .raw = raw,
                                  .stored = stored,
                                  .sum = codec_sum(head + FORMAT_CHUNK_HEADER_SIZE, stored),
                              });
}

static bool tail_note(struct index *index, uint64_t offset, unsigned type, uint32_t process, uint32_t stored)
{
    struct index_entry entry = {
        .offset = offset, .type = (uint16_t)type, .process = process, .stored = stored};
    return index == NULL || vec_push(&index->entries, entry);
}

bool tail_add_chunk(struct strbuf *to, struct codec *codec, struct index *index, uint64_t offset,
                    unsigned type, uint32_t process, const void *bytes, size_t length)
{
    if (length > FORMAT_PAYLOAD_MAX)
        return false;
    uint8_t *head = (uint8_t *)strbuf_reserve(to, FORMAT_CHUNK_HEADER_SIZE + codec_bound(length));
    if (head == NULL)
        return false;
    unsigned flags;
    uint32_t stored = (uint32_t)codec_pack(codec, head + FORMAT_CHUNK_HEADER_SIZE, bytes, length, &flags);
    if (!tail_note(index, offset, type, process, stored))
        return false;
    tail_put_header(head, type, flags, process, (uint32_t)length, stored);
    strbuf_grown(to, FORMAT_CHUNK_HEADER_SIZE + stored);
    return true;
}

bool tail_add_stored(struct strbuf *to, struct index *index, uint64_t offset, unsigned type, uint32_t process,
                     const void *bytes, size_t length, uint32_t raw)
{
    if (length > FORMAT_PAYLOAD_MAX)
        return false;
    uint8_t *head = (uint8_t *)strbuf_reserve(to, FORMAT_CHUNK_HEADER_SIZE + length);
    if (head == NULL || !tail_note(index, offset, type, process, (uint32_t)length))
        return false;
    memcpy(head + FORMAT_CHUNK_HEADER_SIZE, bytes, length);
    tail_put_header(head, type, FORMAT_PLAIN, process, raw, (uint32_t)length);
    strbuf_grown(to, FORMAT_CHUNK_HEADER_SIZE + length);
    return true;
}

bool tail_add_end(struct strbuf *to, struct codec *codec, const struct index *index, uint64_t offset,
                  const struct tail_end *end)
{
    struct strbuf payload;
    size_t chunks = index->entries.count;
    uint32_t pieces = 0;
    bool done = true;
    strbuf_init(&payload);
    for (size_t first = 0; done && first < chunks; first += TAIL_INDEX_STEP, pieces++) {
        size_t count = chunks - first < TAIL_INDEX_STEP ? chunks - first : TAIL_INDEX_STEP;
        strbuf_clear(&payload);
        index_encode(index, first, count, &payload);
        done = !payload.failed && tail_add_chunk(to, codec, NULL, 0, FORMAT_INDEX, FORMAT_NO_PROCESS,
                                                 payload.text, payload.length);
    }
    strbuf_release(&payload);
    uint8_t last[FORMAT_END_SIZE] = {0};
    put_le64(last, offset);
    put_le32(last + 8, pieces);
    put_le32(last + 12, end->write_error);
    put_le64(last + 16, chunks);
    put_le64(last + 24, end->not_kept);
    put_le64(last + 32, end->cpu_ns);
    put_le64(last + 40, end->wall_ns);
    put_le64(last + 48, end->unrecorded);
    return done &&
           tail_add_stored(to, NULL, 0, FORMAT_END, FORMAT_NO_PROCESS, last, sizeof last, sizeof last);
}

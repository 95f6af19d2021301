/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * codec: see codec.h.
 *
 *     file header                        chunk header
 *      0  8  "HEAPWAKE"                   0  4  "WKCH"
 *      8  2  major                        4  2  type
 *     10  2  minor                        6  2  flags (bit 0: payload is zstd)
 *     12  4  length of this header        8  4  process, or all ones
 *     16  8  features a reader needs     12  4  raw length of the payload
 *     24  8  features it may ignore      16  4  stored length
 *     32  8  wall clock, ns              20  4  zero
 *     40 16  zero                        24  8  checksum of the stored payload
 *     56  8  checksum of bytes 0..55     32  8  checksum of bytes 0..31
 *
 * The chunk header vouches for itself, so that a reader may hop from header to
 * header without looking at payloads, and a damaged payload costs only itself.
 */
#include "store/codec.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "base/cursor.h"

enum {
    CODEC_LEVEL = 1,
    CODEC_TOO_SHORT = 48, /* below this zstd's own framing eats what it gains */
};

uint64_t codec_sum(const void *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}

void file_header_encode(uint8_t *to, const struct file_header *h)
{
    memset(to, 0, FORMAT_HEADER_SIZE);
    memcpy(to, FORMAT_MAGIC, 8);
    put_le16(to + 8, h->major);
    put_le16(to + 10, h->minor);
    put_le32(to + 12, h->length);
    put_le64(to + 16, h->needs);
    put_le64(to + 24, h->offers);
    put_le64(to + 32, h->wall_ns);
    put_le64(to + 40, h->series);
    put_le32(to + 48, h->part);
    put_le64(to + 56, codec_sum(to, 56));
}

enum file_header_state file_header_decode(const uint8_t *from, struct file_header *h)
{
    struct cursor c;
    cursor_init(&c, from, FORMAT_HEADER_SIZE);
    bool named = memcmp(cursor_take(&c, 8), FORMAT_MAGIC, 8) == 0;
    h->major = cursor_u16(&c);
    h->minor = cursor_u16(&c);
    h->length = cursor_u32(&c);
    h->needs = cursor_u64(&c);
    h->offers = cursor_u64(&c);
    h->wall_ns = cursor_u64(&c);
    h->series = cursor_u64(&c);
    h->part = cursor_u32(&c);
    cursor_skip(&c, 4);
    bool sound = cursor_u64(&c) == codec_sum(from, 56);
    if (named && sound)
        return FILE_HEADER_SOUND;
    return named || sound ? FILE_HEADER_DAMAGED : FILE_HEADER_ALIEN;
}

void chunk_header_encode(uint8_t *to, const struct chunk_header *h)
{
    put_le32(to, FORMAT_CHUNK_MAGIC);
    put_le16(to + 4, h->type);
    put_le16(to + 6, h->flags);
    put_le32(to + 8, h->process);
    put_le32(to + 12, h->raw);
    put_le32(to + 16, h->stored);
    put_le32(to + 20, 0);
    put_le64(to + 24, h->sum);
    put_le64(to + 32, codec_sum(to, 32));
}

bool chunk_header_decode(const uint8_t *from, struct chunk_header *h)
{
    struct cursor c;
    cursor_init(&c, from, FORMAT_CHUNK_HEADER_SIZE);
    bool named = cursor_u32(&c) == FORMAT_CHUNK_MAGIC;
    h->type = cursor_u16(&c);
    h->flags = cursor_u16(&c);
    h->process = cursor_u32(&c);
    h->raw = cursor_u32(&c);
    h->stored = cursor_u32(&c);
    cursor_skip(&c, 4);
    h->sum = cursor_u64(&c);
    return named && cursor_u64(&c) == codec_sum(from, 32) && h->raw <= FORMAT_PAYLOAD_MAX &&
           h->stored <= FORMAT_PAYLOAD_MAX;
}

void codec_init(struct codec *c)
{
    *c = (struct codec){0};
}

void codec_release(struct codec *c)
{
    ZSTD_freeCCtx(c->packer);
    ZSTD_freeDCtx(c->unpacker);
    codec_init(c);
}

size_t codec_bound(size_t length)
{
    return ZSTD_compressBound(length);
}

size_t codec_keep(uint8_t *to, const void *from, size_t length, unsigned *flags)
{
    if (length > 0)
        memcpy(to, from, length);
    *flags = FORMAT_PLAIN;
    return length;
}

size_t codec_pack(struct codec *c, uint8_t *to, const void *from, size_t length, unsigned *flags)
{
    if (length >= CODEC_TOO_SHORT) {
        if (c->packer == NULL)
            c->packer = ZSTD_createCCtx();
        /* Without memory for it: stored plain, nothing is lost. */
        size_t packed = c->packer == NULL ? length
                                          : ZSTD_compressCCtx(c->packer, to, codec_bound(length), from,
                                                              length, CODEC_LEVEL);
        if (!ZSTD_isError(packed) && packed < length) {
            *flags = FORMAT_ZSTD;
            return packed;
        }
    }
    return codec_keep(to, from, length, flags);
}

bool codec_unpack(struct codec *c, uint8_t *to, size_t raw, const uint8_t *from, size_t stored,
                  unsigned flags)
{
    if (flags == FORMAT_PLAIN) {
        if (raw != stored)
            return false;
        if (raw > 0)
            memcpy(to, from, raw);
        return true;
    }
    if (flags != FORMAT_ZSTD)
        return false;
    if (c->unpacker == NULL)
        c->unpacker = ZSTD_createDCtx();
    return c->unpacker != NULL && ZSTD_decompressDCtx(c->unpacker, to, raw, from, stored) == raw;
}

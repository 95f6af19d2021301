/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * piece: see piece.h.
 *
 *      0  8  bytes of the whole file     22  2  length of the build id
 *      8  8  offset of this piece        24  4  length of the path
 *     16  4  length of this piece        28  4  zero
 *     20  2  0 plain, 1 one zstd frame   32  .  build id, path
 *      .  8  checksum of all before it    .  .  the piece
 */
#include "store/piece.h"

#include "base/cursor.h"
#include "store/format.h"

enum { PIECE_FIXED = 32 };

bool piece_encode(struct strbuf *to, struct codec *codec, const struct piece *piece, const void *bytes,
                  uint32_t *raw)
{
    size_t head = PIECE_FIXED + piece->build_id_length + piece->path_length + 8;
    if (piece->build_id_length > PIECE_ID_MAX || piece->path_length > PIECE_PATH_MAX ||
        piece->length > PIECE_MAX)
        return false;
    uint8_t *at = (uint8_t *)strbuf_reserve(to, head + codec_bound(piece->length));
    if (at == NULL)
        return false;
    unsigned flags;
    size_t stored = codec_pack(codec, at + head, bytes, piece->length, &flags);
    memset(at, 0, PIECE_FIXED);
    put_le64(at, piece->total);
    put_le64(at + 8, piece->offset);
    put_le32(at + 16, piece->length);
    put_le16(at + 20, (uint16_t)flags);
    put_le16(at + 22, (uint16_t)piece->build_id_length);
    put_le32(at + 24, (uint32_t)piece->path_length);
    if (piece->build_id_length > 0)
        memcpy(at + PIECE_FIXED, piece->build_id, piece->build_id_length);
    memcpy(at + PIECE_FIXED + piece->build_id_length, piece->path, piece->path_length);
    put_le64(at + head - 8, codec_sum(at, head - 8));
    strbuf_grown(to, head + stored);
    *raw = (uint32_t)(head + piece->length);
    return true;
}

bool piece_decode_head(const uint8_t *bytes, size_t length, struct piece *piece, size_t *head)
{
    struct cursor c;
    cursor_init(&c, bytes, length);
    piece->total = cursor_u64(&c);
    piece->offset = cursor_u64(&c);
    piece->length = cursor_u32(&c);
    piece->flags = cursor_u16(&c);
    piece->build_id_length = cursor_u16(&c);
    piece->path_length = cursor_u32(&c);
    cursor_skip(&c, 4);
    if (piece->build_id_length > PIECE_ID_MAX || piece->path_length > PIECE_PATH_MAX)
        return false;
    piece->build_id = cursor_take(&c, piece->build_id_length);
    piece->path = (const char *)cursor_take(&c, piece->path_length);
    *head = cursor_offset(&c) + 8;
    uint64_t sum = cursor_u64(&c);
    return !cursor_is_bad(&c) && sum == codec_sum(bytes, *head - 8) && piece->length <= FORMAT_PAYLOAD_MAX &&
           piece->offset <= piece->total && piece->length <= piece->total - piece->offset;
}

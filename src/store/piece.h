/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * piece: payloads of binary chunks: an ELF file that the recorded program ran,
 * cut into pieces.  What a piece is stands before it, unpacked and with a
 * checksum of its own, so that a list of what is there reads none of them.
 */
#ifndef HW_STORE_PIECE_H
#define HW_STORE_PIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/codec.h"
#include "tool/strbuf.h"

enum {
    PIECE_MAX = 4 << 20, /* bytes of the file in one chunk */
    PIECE_ID_MAX = 256,
    PIECE_PATH_MAX = 4096,
    PIECE_HEAD_MAX = 32 + PIECE_ID_MAX + PIECE_PATH_MAX + 8,
};

struct piece {
    const uint8_t *build_id;
    size_t build_id_length;
    const char *path; /* no NUL behind it when decoded */
    size_t path_length;
    uint64_t total;  /* bytes of the whole file */
    uint64_t offset; /* of this piece in it */
    uint32_t length; /* of this piece */
    uint16_t flags;  /* FORMAT_PLAIN or FORMAT_ZSTD; set by the encoder */
};

/* Makes a payload of a piece and its bytes; *raw gets its length if nothing were packed. */
bool piece_encode(struct strbuf *to, struct codec *codec, const struct piece *piece, const void *bytes,
                  uint32_t *raw);
/* Reads what stands before the bytes of a piece, from at least PIECE_HEAD_MAX
 * bytes of a payload or all of it; *head gets where they begin.  False: makes
 * no sense.  The piece points into `bytes`. */
bool piece_decode_head(const uint8_t *bytes, size_t length, struct piece *piece, size_t *head);

#endif

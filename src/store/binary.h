/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * binary: payloads of binary chunks: an ELF file that the recorded program ran,
 * cut into pieces.  What a piece is stands before it, unpacked and with a
 * checksum of its own, so that a list of what is there reads none of them.
 */
#ifndef HW_STORE_BINARY_H
#define HW_STORE_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/codec.h"
#include "tool/strbuf.h"

enum {
    BINARY_PIECE = 4 << 20, /* bytes of the file in one chunk */
    BINARY_ID_MAX = 256,
    BINARY_PATH_MAX = 4096,
    BINARY_HEAD_MAX = 32 + BINARY_ID_MAX + BINARY_PATH_MAX + 8,
};

struct binary_piece {
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
bool binary_encode(struct strbuf *to, struct codec *codec, const struct binary_piece *piece,
                   const void *bytes, uint32_t *raw);
/* Reads what stands before the bytes of a piece, from at least BINARY_HEAD_MAX
 * bytes of a payload or all of it; *head gets where they begin.  False: makes
 * no sense.  The piece points into `bytes`. */
bool binary_decode_head(const uint8_t *bytes, size_t length, struct binary_piece *piece, size_t *head);

#endif

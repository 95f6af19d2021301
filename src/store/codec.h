/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * codec: chunk framing.  File header, chunk header, compression, checksums;
 * what is inside a payload is the business of others.
 *
 * Nothing here does I/O.  A struct codec holds the compressor's memory and is
 * for one thread at a time; no state passes from one chunk to the next.
 */
#ifndef HW_STORE_CODEC_H
#define HW_STORE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "store/format.h"

struct file_header {
    uint16_t major, minor;
    uint32_t length;        /* of the header; chunks begin here */
    uint64_t needs, offers; /* feature bits: must be known, may be ignored */
    uint64_t wall_ns;       /* CLOCK_REALTIME when the recording began */
    uint64_t series;        /* of files that follow each other; 0 = it is alone */
    uint32_t part;          /* which of them, from 1 */
};

struct chunk_header {
    uint16_t type;
    uint16_t flags;
    uint32_t process;
    uint32_t raw;
    uint32_t stored;
    uint64_t sum; /* of the stored payload */
};

/* Little-endian, no alignment needed. */
static inline void put_le16(uint8_t *to, uint16_t value)
{
    memcpy(to, &value, sizeof value);
}

static inline void put_le32(uint8_t *to, uint32_t value)
{
    memcpy(to, &value, sizeof value);
}

static inline void put_le64(uint8_t *to, uint64_t value)
{
    memcpy(to, &value, sizeof value);
}

/* XXH3, 64 bits, seed 0. */
uint64_t codec_sum(const void *bytes, size_t length);

void file_header_encode(uint8_t *to, const struct file_header *h);
enum file_header_state {
    FILE_HEADER_SOUND,
    FILE_HEADER_DAMAGED, /* looks like ours, checksum wrong: fields not to be trusted */
    FILE_HEADER_ALIEN,   /* not a recording */
};
enum file_header_state file_header_decode(const uint8_t *from, struct file_header *h);

void chunk_header_encode(uint8_t *to, const struct chunk_header *h);
/* False: no chunk header, a damaged one, or lengths above the cap. */
bool chunk_header_decode(const uint8_t *from, struct chunk_header *h);

struct codec {
    void *packer;   /* ZSTD_CCtx, made when first needed */
    void *unpacker; /* ZSTD_DCtx, likewise */
};

void codec_init(struct codec *c);
void codec_release(struct codec *c);

/* Bytes that `to` must have for codec_pack. */
size_t codec_bound(size_t length);
/* Compresses, or copies where that does not pay; *flags gets FORMAT_PLAIN or
 * FORMAT_ZSTD.  The number of bytes at `to`. */
size_t codec_pack(struct codec *c, uint8_t *to, const void *from, size_t length, unsigned *flags);
/* The same without compression. */
size_t codec_keep(uint8_t *to, const void *from, size_t length, unsigned *flags);
/* The opposite: exactly raw bytes at `to`, or false. */
bool codec_unpack(struct codec *c, uint8_t *to, size_t raw, const uint8_t *from, size_t stored,
                  unsigned flags);

#endif

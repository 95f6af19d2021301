/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tail: chunks as bytes, one at a time, and the last of them: the index and
 * the end that close a recording.  Shared by those who write one (writer) and
 * those who add to one (annex).  No I/O.
 */
#ifndef HW_STORE_TAIL_H
#define HW_STORE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/codec.h"
#include "store/index.h"
#include "tool/strbuf.h"

/* What the end chunk says of the writer. */
struct tail_end {
    uint32_t write_error; /* errno that stopped it, 0 = none */
    uint64_t not_kept;    /* events that could not be written */
    uint64_t cpu_ns;
    uint64_t wall_ns;
    uint64_t unrecorded; /* processes that could not be recorded */
};

/* Appends a chunk to `to`, packed where that pays, and its entry (for a chunk
 * that will stand at `offset`) to the index; index may be NULL.  False: no
 * memory, or too long. */
bool tail_add_chunk(struct strbuf *to, struct codec *codec, struct index *index, uint64_t offset,
                    unsigned type, uint32_t process, const void *bytes, size_t length);
/* The same for a payload that is as it should be in the file; raw: its length if nothing were packed. */
bool tail_add_stored(struct strbuf *to, struct index *index, uint64_t offset, unsigned type, uint32_t process,
                     const void *bytes, size_t length, uint32_t raw);

/* Appends index chunks for all of `index` and the end chunk; the first byte
 * will stand at `offset`.  False: no memory. */
bool tail_add_end(struct strbuf *to, struct codec *codec, const struct index *index, uint64_t offset,
                  const struct tail_end *end);

#endif

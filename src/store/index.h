/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * index: what stands where in a recording.
 *
 * The writer keeps one entry a chunk and writes them at the end; the reader
 * gets them from there, or makes them by scanning when the end is missing.
 */
#ifndef HW_STORE_INDEX_H
#define HW_STORE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "tool/strbuf.h"
#include "tool/vec.h"

/* The prelude of an events chunk: what can be known without decoding it. */
struct events_prelude {
    uint64_t first_event;      /* number of its first event in the stream of its process */
    uint64_t first_allocation; /* number that its first allocation gets */
    uint64_t first_ns, last_ns;
    uint32_t events, allocations, frees; /* frees: of known blocks */
    uint32_t columns;
    uint64_t live_bytes_first, live_bytes_last, live_bytes_max; /* before, after, highest within */
    uint64_t live_blocks_first, live_blocks_last;
};

struct index_entry {
    uint64_t offset; /* of the chunk header */
    uint16_t type;
    uint32_t process;
    uint32_t stored;
    uint32_t part;                /* of a series that is read together: 0 = the first file; not in a file */
    struct events_prelude events; /* type FORMAT_EVENTS only, else zero */
};

struct index {
    VEC(struct index_entry) entries; /* by rising offset */
};

/* Where a chunk ends. */
uint64_t index_entry_end(const struct index_entry *e);

/* FORMAT_PRELUDE_SIZE bytes. */
void events_prelude_encode(uint8_t *to, const struct events_prelude *p);
bool events_prelude_decode(const uint8_t *from, struct events_prelude *p);

/* Appends entries first..first+count-1 as the payload of an index chunk. */
void index_encode(const struct index *index, size_t first, size_t count, struct strbuf *to);
/* Adds the entries of an index chunk; false: they make no sense, or no memory. */
bool index_decode(struct index *index, const uint8_t *bytes, size_t length);

void index_release(struct index *index);

#endif

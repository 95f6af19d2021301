/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * chunk_type: the table of the types of chunks (docs/format.md), for all that treat
 * them differently: opening and verifying, copying, adding to a file, series, and the
 * writer on a full disk.  A new type is a line in it.
 */
#ifndef HW_STORE_CHUNK_TYPE_H
#define HW_STORE_CHUNK_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "tool/err.h"

struct wake_reader;
struct meta_decoder;

/* shelf: of the process; NULL where the type is not one of a process.  0, ERR_INPUT: makes no sense,
 * ERR_MEMORY. */
typedef int chunk_decode_fn(struct wake_reader *r, struct meta_decoder *shelf, struct cursor *c);
/* at: where the chunk is in the index. */
typedef int chunk_note_fn(struct wake_reader *r, struct meta_decoder *shelf, size_t at);
/* Checks all that is in the chunks of this type, of one process or (process 0) of the recording; damage is noted.
 * 0 or ERR_MEMORY. */
typedef int chunk_verify_fn(struct wake_reader *r, size_t process, struct err *err);

struct chunk_type {
    const char *name;
    bool is_of_process; /* else of the recording */
    /* Opening a recording calls one of these, or passes over the chunk if both are NULL. */
    chunk_decode_fn *decode; /* with the payload */
    chunk_note_fn *note;     /* the payload is read later */
    chunk_verify_fn *verify; /* what decode has not seen; NULL: nothing */
    bool is_copied; /* a new recording has the payload as it is, before the events: no names or times in it */
    bool is_state;  /* of a process at the end of its file; of a series the last file has it */
    bool is_common; /* each file of a series may add to it */
    bool is_added;  /* may follow the end of a recording, which stays closed */
    bool is_replaced;  /* by newer ones, when something is added */
    bool is_kept_late; /* written after a failure to write, in the room of events */
};

/* Of an unknown type: one with a name and nothing else. */
const struct chunk_type *chunk_type_get(unsigned type);

#endif

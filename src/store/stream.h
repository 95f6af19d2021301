/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stream: turns the events of one process into the columns of events chunks.
 *
 * The calls that add events are in store/writer.h; here is what the writer
 * needs beside them.  When a chunk is full the stream asks its owner to take
 * it, through `close_chunk`.
 */
#ifndef HW_STORE_STREAM_H
#define HW_STORE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/codec.h"
#include "store/expect.h"
#include "store/format.h"
#include "store/heaps.h"
#include "store/index.h"
#include "store/writer.h"

enum {
    STREAM_STAGE = 256 /* events that wait for encoding */
};

/* An allocation on the stage. */
struct stream_made {
    uint64_t address, size, usable;
    uint32_t stack;
};

/* The latest events, before they become bytes: lists, each with its own count, because not every event has
 * something in every one. */
struct stream_stage {
    uint32_t events, times, allocations, frees;
    uint32_t limit; /* events that fit; 0: the next event has to ask first */
    uint8_t op[STREAM_STAGE];
    uint64_t time[STREAM_STAGE];
    uint64_t ref[STREAM_STAGE];
    struct stream_made
        made[STREAM_STAGE + 1]; /* from 1 on; 0: the latest before them, of which the stack counts */
};

struct wake_stream {
    uint64_t last_ns;
    uint32_t last_thread;
    /* Not beside next_allocation: gcc would add to both with one wide access,
     * which has to wait for the narrow stores of a release just before. */
    uint64_t live_bytes, live_bytes_max;
    uint64_t next_allocation;
    uint64_t frees; /* of this chunk, without those on the stage */
    struct stream_stage stage;

    uint64_t last_address;        /* of the latest encoded allocation */
    uint8_t *at[COLUMN_COUNT];    /* where the next byte goes */
    uint8_t *begin[COLUMN_COUNT]; /* NULL: nothing yet */
    size_t capacity[COLUMN_COUNT];
    uint8_t plain[COLUMN_COUNT]; /* chunks for which zstd need not be tried */
    struct expect expect;
    struct heaps heaps;
    uint64_t arena_bit; /* RECORD_OTHER_ARENA where usable sizes tell it, else 0 */
    bool has_heaps;     /* heaps tell of another arena */
    /* Allocations of this chunk up to the latest that the arena column lists, with it. */
    uint64_t arena_listed;

    struct events_prelude prelude; /* of the chunk that is being filled */
    uint64_t next_event;           /* number of the first event of that chunk */
    uint64_t live_blocks;          /* when that chunk began */
    uint64_t marks;
    uint64_t lost;           /* events that were not taken */
    struct cull *cull;       /* NULL: events are written as they come.  The owner's. */
    uint64_t made, released; /* allocations and releases that were given, whatever became of them */
    bool is_limited;         /* events are only counted, in omitted */
    struct wake_omissions omitted;
    bool closed; /* takes nothing any more */

    void (*close_chunk)(struct wake_stream *s, void *owner);
    void (*note_mark)(struct wake_stream *s, void *owner, uint64_t time_ns, uint32_t thread, const char *name,
                      size_t length);
    /* Where blocks are samples: numbers in the file are `skipped` lower than made, from this one on. */
    void (*note_gap)(struct wake_stream *s, void *owner, uint64_t number, uint64_t skipped);
    void *owner;
};

void stream_init(struct wake_stream *s, void *owner);
/* Frees the columns; accepts a zeroed stream. */
void stream_release(struct wake_stream *s);
/* From here on events are counted in `lost` and nothing else. */
void stream_close(struct wake_stream *s);
/* From here on events are numbered, counted in `omitted` and not written. */
void stream_limit(struct wake_stream *s);

/* Events behind the cull, as wake_stream_* otherwise. */
void stream_put_alloc(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned kind, uint32_t stack,
                      uint64_t address, uint64_t size, uint64_t usable, uint64_t previous);
void stream_put_free(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned how, uint32_t stack,
                     uint64_t allocation, uint64_t size);
/* A record of `count` numbers for the rare column; type: enum format_rare. */
void stream_put_rare(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned type,
                     const uint64_t *values, unsigned count);

/* Events in the chunk that is being filled. */
uint32_t stream_pending(const struct wake_stream *s);
/* Encodes what waits on the stage and gives the most bytes that stream_encode
 * can need. */
size_t stream_bound(struct wake_stream *s);
/* After stream_bound: writes the pending events as an events payload and gives its length; *raw
 * gets the length before compression, *prelude what the index keeps. */
size_t stream_encode(struct wake_stream *s, struct codec *codec, uint8_t *to, uint32_t *raw,
                     struct events_prelude *prelude);
/* Begins the next chunk. */
void stream_restart(struct wake_stream *s);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * recording: the inside of struct wake_reader, shared by the files that make
 * up the reader (reader, recording, salvage, shelf, event_source, derive, lookup).
 */
#ifndef HW_STORE_RECORDING_H
#define HW_STORE_RECORDING_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/chunk_type.h"
#include "store/codec.h"
#include "store/index.h"
#include "store/names.h"
#include "store/reader.h"
#include "tool/arena.h"
#include "tool/map.h"
#include "tool/vec.h"

enum {
    RECORDING_DAMAGES_MAX = 1000, /* named one by one; the rest is counted by the last */
    RECORDING_MODULE_SLOTS = 64,
};

/* A process and what is needed while its chunks are read. */
struct meta_decoder {
    struct wake_process process; /* first: what the public functions give */
    struct map threads;          /* number -> index */
    bool totals_damaged, live_damaged;
    uint64_t next_event; /* that the next events chunk should begin with */
    VEC(size_t) spans;   /* events chunks: where in the index */
    VEC(uint32_t) path;  /* nodes of the latest stack, outermost first */
    uint64_t last_address[RECORDING_MODULE_SLOTS];
    size_t levels;    /* its levels chunk: where in the index, + 1; 0 = there is none */
    uint32_t *images; /* of modules, by number; 0 = not looked for yet; NULL: none looked for */
    size_t image_count;
    struct derive *derive; /* where its totals stand, while it goes on; NULL: they are in the file */
};

/* A binary in the file. */
struct embedded {
    struct wake_binary about;
    VEC(size_t) pieces; /* where in the index, in order */
};

/* What one thread reads chunks with. */
struct chunk_scratch {
    struct codec codec;
    uint8_t *stored, *raw; /* the chunk that is being looked at */
    size_t stored_capacity, raw_capacity;
};

void chunk_scratch_release(struct chunk_scratch *s);

/* Why a chunk cannot be used; text: a sentence, "" where nothing was found. */
struct chunk_fault {
    uint64_t offset;
    char text[256];
};

struct wake_reader {
    int fd;
    VEC(int) parts; /* descriptors of the files that follow, for index entries with a part */
    char *path;
    uint64_t size;
    uint64_t begin;      /* where chunks begin */
    uint64_t chunks_end; /* where they end: at the index of a closed file */
    bool is_scanned;     /* they were found by scanning */
    bool may_grow;       /* opened alone: wake_reader_refresh takes in what is appended */
    size_t loaded;       /* entries of the index that have been taken in */
    struct arena arena;
    struct chunk_scratch scratch; /* for chunks other than events */
    struct index index;
    VEC(struct meta_decoder *) shelves;
    pthread_mutex_t noting; /* of damages and of bytes read, by readings at once */
    VEC(struct wake_damage) damages;
    VEC(const char *) notes;
    struct wake_summary summary;
    uint64_t budget;     /* bytes of memory that the meta data may still take */
    struct names *names; /* NULL: nobody has asked */
    bool has_binaries;   /* the list has been made */
    VEC(struct embedded) binaries;
    struct map binary_numbers; /* hash of build id and path -> which */
    wake_watch_fn *watch;      /* may be NULL */
    void *watch_of;
    uint64_t watched; /* bytes */
    unsigned threads; /* that decode events, the caller included; 0: as many as pay.  Set by tests */
    void *attached;   /* somebody else's */
    void (*release_attached)(void *attached);
};

struct payload {
    struct chunk_header header;
    const uint8_t *bytes; /* unpacked; as stored for an events chunk */
    size_t length;
};

/* The file that a chunk is in. */
static inline int recording_fd(const struct wake_reader *r, const struct index_entry *e)
{
    return e->part == 0 ? r->fd : r->parts.data[e->part - 1];
}

/* reader.c: the second half of opening, once the chunks are known. */
int reader_take_in(struct wake_reader *r, struct err *err);
chunk_decode_fn reader_add_notes;
chunk_note_fn reader_note_events, reader_note_levels;
chunk_verify_fn reader_verify_events;

/* Notes a damage; the text is one sentence. */
void recording_damage(struct wake_reader *r, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads and checks the chunk of an index entry.  0; ERR_INPUT: damaged, which
 * has been noted; ERR_MEMORY.  Valid until the next call. */
int recording_read(struct wake_reader *r, const struct index_entry *e, struct payload *payload);
/* The same with scratch of the caller's own, from any thread: what is damaged is not noted, but told in *fault. */
int recording_load(const struct wake_reader *r, struct chunk_scratch *scratch, const struct index_entry *e,
                   struct payload *payload, struct chunk_fault *fault);
/* So many bytes were read. */
void recording_watch(struct wake_reader *r, size_t bytes);
/* The levels chunk of a process.  ERR_ABSENT: there is none; otherwise as above. */
int recording_read_levels(struct wake_reader *r, size_t process, struct payload *payload);
/* Notes that it makes no sense. */
void recording_damage_levels(struct wake_reader *r, size_t process);
/* Room where a payload is unpacked to, instead of what is there; NULL: no memory. */
uint8_t *recording_reserve_raw(struct wake_reader *r, size_t need);
/* The header at offset; false: none there.  *header is only set when true. */
bool recording_read_header(struct wake_reader *r, uint64_t offset, struct chunk_header *header);

/* Does another process hold the lock of a recording's writer? */
bool recording_is_being_written(const struct wake_reader *r);

/* salvage.c: adds the chunks behind r->chunks_end to the index, by scanning.  0 or ERR_MEMORY. */
int salvage_scan(struct wake_reader *r);
/* salvage.c: fills r->index from the end of the file, or by scanning.  0 or ERR_MEMORY. */
int salvage_index(struct wake_reader *r);
/* Opens the file, checks its header and finds its chunks; recording_close goes
 * with it even when it fails.  *r is zeroed before. */
int recording_open(struct wake_reader *r, const char *path, struct err *err);
void recording_close(struct wake_reader *r);

/* shelf.c: the shelf of a process, made when needed; NULL: no memory, or a
 * number that cannot be. */
struct meta_decoder *meta_decoder_get(struct wake_reader *r, uint32_t process);
chunk_decode_fn meta_decoder_add_process, meta_decoder_add_threads, meta_decoder_add_modules,
    meta_decoder_add_stacks, meta_decoder_add_samples, meta_decoder_add_marks, meta_decoder_add_pools,
    meta_decoder_add_usage, meta_decoder_add_end, meta_decoder_add_totals, meta_decoder_add_omissions,
    meta_decoder_add_gaps, meta_decoder_add_live, meta_decoder_add_carried;
void meta_decoder_free(struct meta_decoder *shelf);
/* Takes bytes from the budget; false: it is used up. */
bool meta_decoder_spend(struct wake_reader *r, uint64_t bytes);

/* lookup.c: names and binaries. */
void lookup_release(struct wake_reader *r);
chunk_verify_fn lookup_verify_names, lookup_verify_binaries;

/* derive.c: totals, live blocks and end of a process from its events, of which those that are new since the last call
 * are read. */
int derive_process(struct wake_reader *r, size_t process, struct err *err);
/* Forgets where it stands: the process has ended, or its file.  Accepts NULL. */
void derive_free(struct derive *d);
/* lookup.c: takes in names of chunks from this entry of the index on, if any were asked for. */
void lookup_load(struct wake_reader *r, size_t first);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * writing: the inside of struct wake_writer, shared by writer.c, writing.c, rotate.c and the rewrite.
 */
#ifndef HW_STORE_WRITING_H
#define HW_STORE_WRITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/chunk_sink.h"
#include "store/codec.h"
#include "store/cull.h"
#include "store/index.h"
#include "store/meta.h"
#include "store/stream.h"
#include "store/writer.h"
#include "tool/strbuf.h"
#include "tool/vec.h"

enum {
    WRITER_TOTALS_STEP = 64 << 10, /* stacks in a totals chunk */
    WRITER_LIVE_STEP = 128 << 10,  /* blocks in a live chunk */
};

struct writer_process {
    struct wake_stream stream; /* first: a stream is found in its process */
    struct meta meta;
    uint32_t number;
    struct strbuf levels;                /* for the next end or pause */
    VEC(struct wake_live_block) carried; /* live in the file when it was paused, by number */
};

struct wake_writer {
    struct chunk_sink sink;
    struct codec codec;
    struct index index;
    struct strbuf scratch;
    VEC(struct writer_process *)
    processes;         /* by number; NULL: it has ended.  There may be millions of these */
    int error;         /* errno of the failure, 0 = none */
    uint64_t not_kept; /* events of chunks that had to go, and that streams of ended processes did not take */
    uint64_t unrecorded;
    struct wake_cull_options cull;
    bool is_culling;
    uint64_t limit;  /* bytes; 0 = none */
    uint64_t series; /* of files that follow each other; 0 = there is one */
    uint32_t part;   /* which of them this is, from 1 */
    uint64_t begin_wall_ns;
    uint64_t end_wall_ns; /* of a copy; 0 = now */
    struct strbuf tail;
    struct index tail_index; /* offsets from the beginning of the tail */
    struct chunk_sink next;  /* in which it is to go on; fd -1 = none */
    uint64_t paused_at;      /* the size of the file before the first process was paused */
};

/* Opens a file and writes its header. */
int writer_open_file(const struct wake_writer *w, struct chunk_sink *to, const char *path, struct err *err);
void writer_fail(struct wake_writer *w, int error);
/* Cuts the file back to the whole chunks before that size. */
void writer_cut(struct wake_writer *w, uint64_t size);
/* A chunk with this payload, unless that is empty. */
void writer_chunk_of(struct wake_writer *w, unsigned type, uint32_t process, const struct strbuf *payload);
/* The same for a payload that is as it should be in the file; raw: its length if nothing were packed. */
void writer_stored(struct wake_writer *w, unsigned type, uint32_t process, const void *bytes, size_t length,
                   uint32_t raw);
/* Everything of a process that has gathered. */
void writer_put(struct wake_writer *w, struct writer_process *p);
/* Begins *m anew. */
void writer_put_meta(struct wake_writer *w, uint32_t process, struct meta *m);
/* The same, once enough has gathered. */
void writer_put_full(struct wake_writer *w, uint32_t process, struct meta *m);
void writer_put_totals(struct wake_writer *w, uint32_t process, const struct wake_stack_totals *rows,
                       uint64_t count);
/* step: blocks in a chunk. */
void writer_put_live(struct wake_writer *w, uint32_t process, const struct wake_live_block *live,
                     size_t count, size_t step);
/* Totals, levels, live blocks and what was left out, and last the end. */
void writer_put_end(struct wake_writer *w, struct writer_process *p, const struct wake_process_end *end,
                    const struct wake_stack_totals *totals, uint64_t rows, const struct wake_live_block *live,
                    size_t live_count, const struct wake_omissions *o, const struct wake_culled_stack *culled,
                    size_t culled_count);
/* Nothing where nothing was left out. */
void writer_put_omissions(struct wake_writer *w, uint32_t process, const struct wake_omissions *o,
                          const struct wake_culled_stack *rows, size_t count);
/* A process that may still grow, or NULL. */
struct writer_process *writer_find(struct wake_writer *w, uint32_t process);
/* Room for what is known of a process, in its place in the list; NULL: no memory. */
struct writer_process *writer_new_process(struct wake_writer *w, uint32_t number);
/* Frees it: it has ended. */
void writer_free_process(struct wake_writer *w, struct writer_process *p);
/* Closes the file as it is, and frees. */
void writer_abandon(struct wake_writer *w);
/* Tail, index and end, in one go.  False: not written (and cut away again). */
bool writer_wrap_up(struct wake_writer *w, uint64_t cpu_ns);

#endif

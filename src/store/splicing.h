/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * splicing: the inside of struct wake_splice, shared by the files that make up
 * the splice (splice, splice_meta, splice_names).
 *
 * Failures to write, and of memory, are sticky: the first is kept in `error`, and
 * from then on nothing is done.
 */
#ifndef HW_STORE_SPLICING_H
#define HW_STORE_SPLICING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/codec.h"
#include "store/index.h"
#include "store/names.h"
#include "store/recording.h"
#include "store/splice.h"
#include "store/tail.h"
#include "tool/file.h"
#include "tool/map.h"
#include "tool/strbuf.h"

struct wake_splice {
    struct file_new file;
    struct strbuf pending; /* not yet in the file */
    uint64_t written;
    struct codec codec;
    struct index index;
    struct strbuf scratch;
    struct names *names; /* of all sources */
    struct map binaries; /* hash of build id and path of those that are there */
    uint64_t wall_ns;
    uint32_t processes;
    bool is_closed;           /* all sources were, so far */
    struct tail_end end;      /* sums of the sources' */
    int error;                /* errno of the first failure, 0 = none */
    bool (*is_stopped)(void); /* may be NULL */
};

/* What wake_splice_add works on. */
struct splice_source {
    struct wake_splice *s;
    struct wake_reader *r;
    const struct splice_mask *mask;
    uint64_t shift; /* added to every time */
    uint32_t base;  /* number of its first process */
};

void splice_fail(struct wake_splice *s, int error);
/* Adds a chunk, unless the payload is empty. */
void splice_chunk(struct wake_splice *s, unsigned type, uint32_t process, const struct strbuf *payload);
/* The same of a payload as it is in the file. */
void splice_stored(struct wake_splice *s, unsigned type, uint32_t process, const void *bytes, size_t length,
                   uint32_t raw);
/* A time of the source on the new clock. */
uint64_t splice_time(const struct splice_source *x, uint64_t time_ns);

/* splice_meta.c: processes, threads, modules, marks, samples. */
void splice_add_meta(struct splice_source *x);
/* splice_names.c: gathers the names, which are written at the end, and writes binaries. */
void splice_add_names(struct splice_source *x);
void splice_add_binaries(struct splice_source *x);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * import: files of other tools become recordings.  One file a source, one line
 * in the table.
 *
 * An importer reads a feed from its beginning to its end and tells a recast of
 * what it finds.  What the source knows is kept exactly; what it cannot tell is
 * said in notes.  Sources that know sums but no blocks go through lots.h.
 *
 * A file that makes no sense is refused with one sentence that names the line
 * or the byte.  Nothing here prints.
 */
#ifndef HW_IMPORT_IMPORT_H
#define HW_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/feed.h"
#include "import/recast.h"
#include "tool/err.h"

enum { IMPORT_BLOCKS = 10000000 }; /* default of most_blocks */

struct import_job {
    struct feed *feed;
    struct recast *recast;
    uint64_t most_blocks; /* that are made up for a source which knows sums only */
    const char *sysroot;  /* where programs and libraries are looked for; NULL: where they were */
    bool is_nameless;     /* set by the importer: there are addresses without names, to be looked up */
};

struct import_format {
    const char *name;
    const char *title; /* for people */
    /* Could a file that begins so be one? */
    bool (*is_one)(const char *head, size_t length);
    int (*run)(struct import_job *job, struct err *err);
};

/* In the order in which they are tried; the last has no name. */
extern const struct import_format import_list[];

/* NULL: there is none of this name. */
const struct import_format *import_find(const char *name);
/* What a file seems to be; NULL: none of these, or it cannot be read. */
const struct import_format *import_guess(const char *path);

struct import_request {
    const char *input, *output;
    const struct import_format *format; /* NULL: it is found out, and set */
    uint64_t most_blocks;
    const char *sysroot; /* as symbolizer_options have it */
    bool is_nameless;    /* set: names are still to be looked up */
    /* Called with each note once the file is written; may be NULL. */
    void (*note)(void *of, const char *sentence);
    void *note_of;
    feed_watch_fn *watch; /* may be NULL */
    void *watch_of;
};

/* Makes the recording `output`; on failure there is none. */
int import_file(struct import_request *q, struct err *err);

bool from_heaptrack_is_one(const char *head, size_t length);
int from_heaptrack(struct import_job *job, struct err *err);
bool from_mtrace_is_one(const char *head, size_t length);
int from_mtrace(struct import_job *job, struct err *err);
bool from_memtraq_is_one(const char *head, size_t length);
int from_memtraq(struct import_job *job, struct err *err);
bool from_jemalloc_is_one(const char *head, size_t length);
int from_jemalloc(struct import_job *job, struct err *err);
bool from_gperftools_is_one(const char *head, size_t length);
int from_gperftools(struct import_job *job, struct err *err);
bool from_massif_is_one(const char *head, size_t length);
int from_massif(struct import_job *job, struct err *err);
bool from_dhat_is_one(const char *head, size_t length);
int from_dhat(struct import_job *job, struct err *err);
bool from_pprof_is_one(const char *head, size_t length);
int from_pprof(struct import_job *job, struct err *err);

#endif

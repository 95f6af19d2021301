/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * naming: finds out what the addresses of recordings are called: lists the
 * places that occur in stacks, image by image, and asks a resolver about them.
 *
 * One struct naming serves many recordings, so that what the resolver knows of
 * an image (libc, mostly) is found out once.
 */
#ifndef HW_SYMBOL_NAMING_H
#define HW_SYMBOL_NAMING_H

#include "store/names.h"
#include "store/reader.h"
#include "tool/strbuf.h"
#include "tool/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Who knows images and the addresses in them. */
struct naming_resolver {
    void *of;
    /* Opens an image.  fd: the very file, from the recording; -1: it is to be
     * found.  *source gets how much can be told, and remark a sentence if there
     * is something to say.  NULL: nothing can. */
    void *(*open)(void *of, const struct name_image *image, int fd, enum name_source *source,
                  struct strbuf *remark);
    /* The frames at a place, innermost first, valid until the next call; the number of them, 0 = not known. */
    uint32_t (*resolve)(void *of, void *opened, uint64_t place, bool exact, const struct name_frame **frames);
    void (*close)(void *of, void *opened);
    /* Asked at the end: a sentence if there was no memory for what it should have told, else NULL.  May be NULL. */
    const char *(*lack)(void *of, void *opened);
    /* Asked at the end: the remark, now that places have been looked at; "" = none.  May be NULL. */
    const char *(*remark)(void *of, void *opened);
};

struct naming_options {
    const char *sysroot;    /* NULL: none */
    const char *debug_path; /* folders between colons; NULL: the usual */
    const char *maps;       /* copy of /proc/PID/maps, for code in no module; NULL: none */
    const char *perf_map;   /* names of code that was made at run time (perf_map.h); NULL: none */
    bool debuginfod;
    bool again; /* what has a name gets it anew, where as much is known now as then */
    /* Asked between addresses, and while a server is waited for: true, once for each time that the user wants an end.  There
     * it is the end of asking servers, and what is on this machine has to do.  NULL: never. */
    bool (*is_stopped)(void *of);
    void *is_stopped_of;
    /* Told now and then how far it is; NULL: nobody wants to know. */
    void (*progress)(void *of, const char *what, uint64_t done, uint64_t total);
    void *progress_of;
    const struct naming_resolver *resolver; /* NULL: the one of this build, for ELF files */
};

struct naming;

/* The options' texts live as long as it.  NULL: err says why. */
struct naming *naming_open(const struct naming_options *options, struct err *err);
void naming_close(struct naming *n);

/* Names what occurs in the stacks of a recording, in wake_reader_names(r).
 * Being stopped is no error: what has been named stays. */
int naming_resolve(struct naming *n, struct wake_reader *r, struct err *err);
/* Of the latest recording: the remark on what was found now of an image, "" = none, where that is less than what
 * is known and the names stay; NULL: they do not. */
const char *naming_get_note(const struct naming *n, uint32_t image);
bool naming_is_stopped(const struct naming *n);
/* A sentence for people about files that were not waited for; "" = none. */
const char *naming_get_remark(const struct naming *n);

/* A place that occurs in a stack. */
struct naming_want {
    uint64_t place;
    uint32_t image;
    bool exact;
};

struct naming_wants {
    VEC(struct naming_want) list; /* each once; by image, place */
};

/* The places of all stacks of a recording; vec_release(&w->list) goes with it. */
int naming_list(struct naming_wants *w, struct wake_reader *r, struct err *err);
/* The first of those after `at` that is in another image. */
size_t naming_next_image(const struct naming_wants *w, size_t at);

/* Is the image one that stands for code in no module (store/names.h)? */
bool naming_is_fileless(const struct name_image *image);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * recast: a recording that is made of what another tool recorded.  One process;
 * importers tell it of modules, frames, stacks, blocks and notes, it keeps the
 * books that a collector would keep and writes the .wake file.
 *
 *     recast_open, recast_begin, ... , recast_end, recast_close
 *
 * Errors are sticky: after the first one every call does nothing and gives 0;
 * recast_check() says what it was, and importers ask it once a line.  Memory
 * goes by stacks, names and live blocks.  One thread at a time.
 */
#ifndef HW_IMPORT_RECAST_H
#define HW_IMPORT_RECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/names.h"
#include "store/writer.h"
#include "tool/err.h"
#include "tool/strbuf.h"

struct recast;

/* wall_ns: CLOCK_REALTIME at time 0; 0 = not known. */
int recast_open(struct recast **r, const char *path, uint64_t wall_ns, struct err *err);

/* Who the process was, before anything else is told of it; pid 0 = not known.
 * A command line that is one text is cut at its spaces. */
void recast_begin(struct recast *r, uint32_t pid, const char *exe, size_t exe_length, const char *command,
                  size_t command_length);
bool recast_has_begun(const struct recast *r);

/* A sentence for whoever reads the recording: what its source could not tell.
 * The same sentence is kept once. */
void recast_note(struct recast *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t recast_note_count(const struct recast *r);
const char *recast_get_note(const struct recast *r, size_t i);

/* ------------------------------------------------------------- code and stacks */

/* The module with this path, bias and build id, added where it is new. */
uint32_t recast_module(struct recast *r, const struct wake_module_info *info);
/* One of which the path is all that is known. */
uint32_t recast_module_at(struct recast *r, const char *path, size_t length);

/* Frames of a place, as store/names.h has them, the innermost first.  Texts need
 * not live longer than the call. */
struct recast_text {
    const char *bytes;
    size_t length;
};
struct recast_name {
    struct recast_text function, file;
    uint32_t line;
};

/* The frame at a return address of a module (0: none) that is called so.  Where
 * the address has another name already, another address is made up: sources
 * know one address by several names. */
struct wake_frame recast_frame(struct recast *r, uint32_t module, uint64_t address,
                               const struct recast_name *names, size_t count);

/* The number of a stack, the innermost frame first. */
uint32_t recast_stack(struct recast *r, const struct wake_frame *frames, size_t count);

/* ------------------------------------------------------------------------ events */

/* A thread with this id, added where it is new; name: NULL = none.  Sources that
 * know of no threads need not care. */
uint32_t recast_thread(struct recast *r, uint32_t tid, const char *name, size_t length);

/* Events are told in order; a time before the latest becomes the latest. */
void recast_clock(struct recast *r, uint64_t time_ns);
uint64_t recast_now(const struct recast *r);
void recast_use_thread(struct recast *r, uint32_t thread);

/* A block; address 0: a free one is made up.  The number of the allocation.
 * previous: as wake_stream_alloc has it. */
uint64_t recast_alloc(struct recast *r, unsigned kind, uint32_t stack, uint64_t address, uint64_t size,
                      uint64_t previous);
/* The next release is made from this stack; 0 = not known, as for all others. */
void recast_from(struct recast *r, uint32_t stack);
/* The block is live: importers know. */
void recast_free(struct recast *r, unsigned how, uint64_t allocation);
void recast_free_unknown(struct recast *r, unsigned how, uint64_t address);
/* A free that the source did not see, though the address came again. */
void recast_free_implied(struct recast *r, uint64_t allocation);
void recast_rss(struct recast *r, uint64_t bytes);
void recast_mark(struct recast *r, const char *name, size_t length);

/* The blocks are made up: the source has sums only. */
void recast_make_up(struct recast *r);

/* The times are made up: the source has none, or they are of no clock. */
void recast_miss_clock(struct recast *r);

uint64_t recast_live_bytes(const struct recast *r);

/* --------------------------------------------------------------------------- end */

/* 0, or the first error, in one sentence. */
int recast_check(const struct recast *r, struct err *err);

/* The process is over. */
void recast_end(struct recast *r);
/* Finishes the file, names included, and frees.  Keeps nothing of it that is
 * not whole: a file that could not be finished is for the caller to remove. */
int recast_close(struct recast *r, struct err *err);

#endif

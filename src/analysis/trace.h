/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * trace: stacks as people see them.
 *
 * A stack of a process is a list of addresses.  A trace is a list of frames:
 * inlined functions are frames of their own, and frames of several processes
 * and recordings are one where they have the same function, file and line (or,
 * without a line, the same place in the same file).  Stacks that look the same
 * are the same trace.
 *
 *     trace 0         no frames
 *     trace n         frame and the trace of its callers (parent), so that all
 *                     traces together are one tree
 *
 * Texts of frames live until traces_release; the readers and their names must
 * live that long too.  Not for several threads.
 */
#ifndef HW_ANALYSIS_TRACE_H
#define HW_ANALYSIS_TRACE_H

#include <stdint.h>

#include "analysis/anonymize.h"
#include "analysis/words.h"
#include "engine/frame.h"
#include "store/names.h"
#include "store/reader.h"
#include "tool/err.h"
#include "tool/map.h"
#include "tool/vec.h"

struct trace {
    uint32_t parent; /* trace of the caller; 0 = this frame is the outermost */
    uint32_t frame;
    uint32_t depth;          /* frames up to and with this one */
    uint32_t child, sibling; /* the latest that has it as parent, and the one before it; 0 = none */
    uint32_t children;
};

/* What an address of a process is called: frames[first .. first + count - 1] of
 * its list, the outermost first. */
struct trace_place {
    uint64_t address;
    uint32_t module, first, count;
};

/* One process of one recording. */
struct trace_process {
    const struct wake_process *process;
    const struct names *names;
    const char **modules;   /* by module number: the file */
    uint32_t *images;       /* by module number, [0]: of code in no module; 0 = none */
    uint32_t *traces;       /* by node; 0 = not yet asked for */
    struct map place_slots; /* hash of address and module -> index in places */
    VEC(struct trace_place) places;
    VEC(uint32_t) frames; /* numbers */
};

struct traces {
    struct words words;
    struct map frame_slots;  /* word of a frame -> number in frames + 1 */
    struct map symbol_slots; /* word of a symbol -> symbol */
    struct map module_slots; /* word of a build id -> the file that had it first */
    struct map trace_slots;  /* parent << 32 | frame -> trace, of parents with many children */
    uint32_t symbols;
    VEC(struct frame) frames;
    VEC(struct trace) traces;
    VEC(struct trace_process) processes;
    VEC(uint32_t) path;     /* scratch: nodes from a leaf outwards */
    struct anonymize *veil; /* how names are shown: set before the first stack; NULL = as they are */
    const char *const
        *wrappers; /* functions whose callers are to blame, beside those that are known; likewise */
    size_t wrapper_count;
};

void traces_init(struct traces *c);
void traces_release(struct traces *c);

/* Takes in the processes of a recording, with the names it has by now.  *base
 * gets the number of its first process among all.  ERR_MEMORY. */
int traces_add_reader(struct traces *c, struct wake_reader *r, uint32_t *base, struct err *err);

/* The trace of a stack of a process (counted over all recordings).  *trace is 0
 * for a stack without frames and one that is not in the file.  ERR_MEMORY. */
int traces_find(struct traces *c, uint32_t process, uint32_t stack, uint32_t *trace, struct err *err);

/* The trace that has this frame called from the trace parent; for tests too.  0: no memory. */
uint32_t traces_add(struct traces *c, uint32_t parent, const struct frame *frame);

static inline const struct frame *traces_frame(const struct traces *c, uint32_t trace)
{
    return &c->frames.data[c->traces.data[trace].frame];
}

/* What a reader sees of the frame of a trace, as a number: of one without a line only which function it is. */
static inline uint32_t traces_sight(const struct traces *c, uint32_t trace)
{
    const uint32_t is_function = UINT32_C(0x80000000);
    const struct frame *f = traces_frame(c, trace);
    return f->line != 0 ? c->traces.data[trace].frame : is_function | f->symbol;
}

static inline uint32_t traces_parent(const struct traces *c, uint32_t trace)
{
    return c->traces.data[trace].parent;
}

/* Where the reader's own code begins: the innermost frame that is FRAME_OWN;
 * without one the innermost that is no FRAME_ALLOCATOR; else the innermost. */
uint32_t traces_find_own(const struct traces *c, uint32_t trace);

#endif

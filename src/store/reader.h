/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * reader: opens a .wake file, whole or cut or damaged, and gives what is sound
 * of it (docs/format.md).
 *
 * wake_reader_open reads everything but the events: processes, threads,
 * modules, stacks, totals, live blocks, samples, marks.  Events are read when
 * they are visited, a chunk at a time; memory goes by stacks and live blocks,
 * not by the length of the file.  The file is read with pread: it may grow or
 * shrink meanwhile, and that is a damage like any other.
 *
 * What is lost is named in `damages`, never passed over in silence.  A process
 * whose end is not in the file (the recording was cut, or is still being made)
 * gets totals, live blocks and end from its events; `derived` says so.
 *
 * Everything that is reached through a reader is read-only and lives until
 * wake_reader_close.  Events may be visited from several threads at once; everything else is for one thread at a
 * time.  Threads that a visit starts to decode ahead end with it.  No function prints.
 */
#ifndef HW_STORE_READER_H
#define HW_STORE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/weight.h"
#include "store/writer.h"
#include "tool/err.h"
#include "tool/vec.h"

struct wake_thread {
    uint32_t number; /* as events name it */
    uint32_t tid;
    uint64_t start_ns;
    const char *name; /* the latest; "" = none */
};

struct wake_module {
    uint64_t start, end, bias;
    const uint8_t *build_id;
    size_t build_id_length;
    const char *path;
};

/* A frame in the tree of stacks: follow `parent` from a stack's leaf to walk it
 * from the inside out.  Node 0 is above the outermost frame. */
struct wake_node {
    uint64_t address; /* bit 63: the very instruction, no return address */
    uint32_t module;  /* number of the module, from 1; 0 = none */
    uint32_t parent;
};

struct wake_stack {
    uint32_t leaf; /* innermost frame; 0 = no frames */
    uint32_t depth;
    uint32_t omitted; /* frames left out in the middle */
    uint8_t cut;      /* enum record_cut */
    bool known;       /* false: it was in a damaged part */
};

struct wake_sample {
    uint64_t time_ns, rss_bytes;
};

struct wake_mark {
    uint64_t time_ns;
    uint32_t thread;
    const char *name;
};

/* Blocks that the program told of itself, beside the heap. */
struct wake_pool {
    uint32_t number; /* as events name it */
    const char *name, *unit;
};

/* Ranges whose use has changed; of others it is as told before. */
struct wake_usage_sample {
    uint64_t time_ns, took_ns; /* when it was over, and how long it took */
    bool anew;                 /* nothing that was told before counts any more */
    size_t first, count;       /* in usage */
};

struct wake_process {
    struct wake_process_info info; /* exe and args are NUL-terminated too */
    bool known;                    /* false: its process chunk was damaged; info is empty */
    VEC(struct wake_thread) threads;
    VEC(struct wake_module) modules; /* number n is at n - 1 */
    VEC(struct wake_stack) stacks;   /* by number; 0 = "no stack" */
    VEC(struct wake_node) nodes;
    VEC(struct wake_sample) samples;
    VEC(struct wake_usage_sample) usage_samples; /* in the order of the file, which is that of time */
    VEC(struct wake_usage) usage;                /* ranges of all of them */
    VEC(struct wake_mark) marks;                 /* by number */
    VEC(struct wake_pool) pools;                 /* in no order */
    VEC(struct wake_stack_totals) totals;        /* by stack number; may be shorter than stacks */
    VEC(struct wake_live_block) live;            /* in no order */
    struct wake_omissions omitted;
    VEC(struct weight_gap) gaps;          /* by rising number */
    struct weight_rule rule;              /* what its blocks are weighed by; with these gaps */
    VEC(struct wake_culled_stack) culled; /* by stack number; may be shorter than stacks */
    VEC(struct wake_live_block) carried;  /* made in an earlier file of the series; visited as if made at */
    uint64_t carried_ns;                  /* ... this time, when this file began */
    struct wake_process_end end;
    bool ended;              /* end is from the file */
    bool derived;            /* totals and live blocks (and end, unless ended) come from the events */
    uint64_t events;         /* in sound chunks, as far as their headers tell */
    uint64_t missing_events; /* between and before those, as their numbers tell */
};

struct wake_damage {
    uint64_t offset;  /* in the file */
    const char *text; /* a sentence */
};

struct wake_summary {
    uint64_t wall_ns; /* CLOCK_REALTIME of time 0; 0 = not known */
    uint64_t end_wall_ns, collector_cpu_ns;
    uint64_t file_size;
    uint64_t added_size; /* of that, chunks with names and binaries */
    unsigned major, minor;
    uint64_t series;          /* of files that follow each other; 0 = it is alone */
    uint32_t part, last_part; /* which of them: from 1 */
    bool goes_on;             /* in a file of the series that is not among these */
    bool complete;            /* closed in order, nothing damaged, every process ended, nothing left out */
    bool closed;              /* has its end record */
    int write_error;          /* errno that stopped the writer, 0 = none */
    uint64_t not_kept;        /* events that the writer could not write */
    uint64_t unrecorded;      /* processes that ran meanwhile and could not be recorded */
    uint64_t events;          /* of all processes, in the file */
};

struct wake_reader;

/* ERR_INPUT: not a recording, or nothing in it can be read; ERR_UNSUPPORTED: a
 * newer major version; ERR_ABSENT, ERR_IO, ERR_MEMORY. */
int wake_reader_open(struct wake_reader **r, const char *path, struct err *err);
void wake_reader_close(struct wake_reader *r);

/* Takes in what the writer has appended to an unfinished recording since it was opened or refreshed, without reading
 * again what was read.  *has_grown: there was something; pointers that functions below gave are then stale, but for
 * texts.  Nobody else may use the reader meanwhile.  Files of a series that were opened together stay as they are. */
/* Has anything been appended? */
bool wake_reader_has_more(const struct wake_reader *r);
int wake_reader_refresh(struct wake_reader *r, bool *has_grown, struct err *err);

enum wake_state {
    WAKE_CLOSED,   /* by its writer: nothing more will come */
    WAKE_GROWING,  /* it is being written */
    WAKE_CUT,      /* its writer is gone and has not closed it */
    WAKE_REPLACED, /* another file has its name now */
};
enum wake_state wake_reader_state(const struct wake_reader *r);

/* Gives back what it takes to read chunks, 100 KiB and more, until one is read again: for those who have thousands open. */
void wake_reader_rest(struct wake_reader *r);

/* What somebody else keeps with an open recording: `release` is called when that is closed, or when
 * another thing is attached.  NULL: there is nothing. */
void wake_reader_attach(struct wake_reader *r, void *thing, void (*release)(void *thing));
void *wake_reader_attached(const struct wake_reader *r);

const struct wake_summary *wake_reader_summary(const struct wake_reader *r);
size_t wake_reader_process_count(const struct wake_reader *r);
const struct wake_process *wake_reader_process(const struct wake_reader *r, size_t process);
/* Blocks of the totals that no event of the file is about; samples, where it has those. */
uint64_t wake_process_omitted(const struct wake_process *p);
/* Whether the totals in the file are those of its events, and of what was left out of these on purpose. */
bool wake_reader_totals_agree(const struct wake_reader *r, size_t process);
/* Whether blocks have been culled that nothing counts, and the latest events wait: its end is not in the file. */
bool wake_process_lacks_culled(const struct wake_process *p);
/* Whether the events tell what a thread has allocated next: not where blocks are samples, or some were culled.  How many
 * were a recording that was cut does not know. */
bool wake_process_knows_order(const struct wake_process *p);
/* For how long recording was switched off, as the marks say, in ns. */
uint64_t wake_process_off_time(const struct wake_process *p);
/* NULL: no such thread is known. */
const struct wake_thread *wake_process_find_thread(const struct wake_process *p, uint32_t number);
/* NULL: no such pool is known. */
const struct wake_pool *wake_process_find_pool(const struct wake_process *p, uint32_t number);
/* NULL: no such stack is known. */
const struct wake_stack *wake_process_find_stack(const struct wake_process *p, uint32_t number);

/* Damages found so far; visiting and verifying may find more. */
size_t wake_reader_damage_count(const struct wake_reader *r);
const struct wake_damage *wake_reader_damage(const struct wake_reader *r, size_t i);

/* Sentences about the whole recording: what an import could not tell. */
size_t wake_reader_note_count(const struct wake_reader *r);
const char *wake_reader_note(const struct wake_reader *r, size_t i);
bool wake_reader_has_note(const struct wake_reader *r, const char *text);
/* How many there are, as one note without names (a note may tell of others); "" where there are none. */
enum { WAKE_VEILED_NOTE = 160 };
const char *wake_reader_veiled_note(const struct wake_reader *r, char text[WAKE_VEILED_NOTE]);

/* From now on whoever reads is told, after each chunk, how many bytes have been read since; NULL: nobody. */
typedef void wake_watch_fn(void *of, uint64_t bytes);
void wake_reader_watch(struct wake_reader *r, wake_watch_fn *watch, void *of);

/* Reads every byte: checksums, that chunks follow each other without a gap, and
 * that events can be decoded.  0; what is wrong is among the damages. */
int wake_reader_verify(struct wake_reader *r, struct err *err);

/* ------------------------------------------------------ names and binaries */

struct names;
struct name_place;

/* The names in the file, read at the first call; NULL: no memory.  They belong
 * to the reader; whoever resolves addresses may add to them, in memory. */
struct names *wake_reader_names(struct wake_reader *r);
/* The image (store/names.h) of a module of a process; module 0, or one that is
 * not there: the image that stands for code in no module.  0: no memory. */
uint32_t wake_reader_image(struct wake_reader *r, size_t process, uint32_t module);
/* Where a frame is in its image. */
uint64_t wake_process_place(const struct wake_process *p, const struct wake_node *node);
/* The file of a module: its own path, or that of the program. */
const char *wake_process_module_path(const struct wake_process *p, const struct wake_module *m);
/* Does it stand for code that was made at run time?  Its image is that of code in no module. */
bool wake_module_is_jit(const struct wake_module *m);
/* What a frame is called; NULL: not known. */
const struct name_place *wake_reader_name(struct wake_reader *r, size_t process,
                                          const struct wake_node *node);

/* An ELF file that was put into the recording. */
struct wake_binary {
    const uint8_t *build_id;
    size_t build_id_length;
    const char *path;
    uint64_t length; /* of the file */
    uint64_t stored; /* bytes of it that are there */
    bool is_whole;
};

/* Anything but 0 ends the copying and is what it gives. */
typedef int wake_bytes_fn(const uint8_t *bytes, size_t length, void *context);

/* Not const: the list is made at the first call. */
size_t wake_reader_binary_count(struct wake_reader *r);
const struct wake_binary *wake_reader_binary(struct wake_reader *r, size_t i);
/* Calls back with the bytes of a binary, in order.  ERR_INPUT: it is damaged or not whole. */
int wake_reader_copy_binary(struct wake_reader *r, size_t i, wake_bytes_fn *put, void *context,
                            struct err *err);

/* ----------------------------------------------------------------- events */

enum wake_event {
    WAKE_ALLOC = 1,
    WAKE_FREE = 2,
    WAKE_FREE_UNKNOWN = 3, /* of a block never seen */
    WAKE_MAP = 4,
    WAKE_UNMAP = 5,
    WAKE_BRK = 6,
    WAKE_MARK = 7,
    WAKE_LOST = 8,
    WAKE_OTHER = 9, /* of a kind that this build does not know */
    WAKE_POOL_ALLOC = 10,
    WAKE_POOL_FREE = 11,
};

enum { WAKE_BLOCK_MAX = 2048 };

/* Decoded events, a column each; index 0..count-1.
 *
 *                   detail        address   size     usable            number      previous
 *   ALLOC           record_kind   of it     of it    of it             its own     realloc: old number + 1
 *   FREE            record_how    0         0        0                 the block's 0
 *   FREE_UNKNOWN    record_how    of it     0        0                 0           0
 *   MAP             0             of it     length   prot|flags << 32  0           0
 *   UNMAP           0             of it     length   0                 0           0
 *   BRK             0             old end   0        new end           0           0
 *   MARK            0             0         0        0                 the mark's  0
 *   LOST            record_lost   0         count    0                 0           0
 *   POOL_ALLOC      0             of it     of it    0                 the pool's  0
 *   POOL_FREE       0             of it     of it    0                 the pool's  0
 *
 * The stack is that of an ALLOC, MAP, UNMAP, BRK or POOL_ALLOC; of a FREE where it was
 * released (0 unless that was recorded), and so of a FREE_UNKNOWN; of a POOL_FREE that of its POOL_ALLOC.
 *
 * What a FREE releases: keep a struct wake_live (store/live.h). */
struct wake_block {
    uint32_t process;
    uint32_t count;
    bool is_of_one_thread; /* all of it, for certain */
    bool has_previous;     /* an ALLOC of it may have one */
    bool
        is_carried; /* blocks of before the chunks that are visited; else allocations are numbered one by one */
    uint64_t first_event; /* number of event 0 in the stream of its process */
    const uint8_t *event; /* enum wake_event */
    const uint8_t *detail;
    const uint64_t *time_ns;
    const uint32_t *thread;
    const uint32_t *stack;
    const uint64_t *address;
    const uint64_t *size;
    const uint64_t *usable;
    const uint64_t *number;
    const uint64_t *previous;
    const uint8_t *arena; /* of an ALLOC: 0 glibc's main one, or not known (wake_process_info), 1 another */
    /* The same events once more, by sort: the indices of ALLOC and of FREE, rising.  Whoever goes through one sort
     * after the other guesses no branch wrong. */
    const uint16_t *alloc_at, *free_at;
    uint32_t alloc_count, free_count;
    /* The allocations that match, where somebody says which (store/event_source.h); else all. */
    const uint16_t *match_at;
    uint32_t match_count;
};

/* Anything but 0 ends the visit and is what it gives. */
typedef int wake_block_fn(const struct wake_block *block, void *context);

/* Calls back with the events of a process from from_ns to to_ns (both
 * included), in order.  Chunks outside are not read.  Damaged chunks are left
 * out and named among the damages. */
int wake_reader_visit(struct wake_reader *r, size_t process, uint64_t from_ns, uint64_t to_ns,
                      wake_block_fn *visit, void *context, struct err *err);

/* Columns that can be done without; the others are always there. */
enum wake_column {
    WAKE_THREAD = 1,
    WAKE_STACK = 2,
    WAKE_ADDRESS = 4,
    WAKE_SIZE = 8,
    WAKE_USABLE = 16,
    WAKE_PREVIOUS = 32,
    WAKE_FREE_STACK = 64, /* the stack of a FREE */
    WAKE_ARENA = 128,
    WAKE_TIME = 256,
    WAKE_EVERYTHING = 511,
};

/* The same, quicker, for those who look at some columns only; times are there anyway where the window cuts a chunk.  What is in the
 * others means nothing, nor is damage in them noticed; address, size, usable, arena,
 * stack and previous are there for ALLOC only, and for those that are neither ALLOC nor FREE. */
int wake_reader_visit_columns(struct wake_reader *r, size_t process, uint64_t from_ns, uint64_t to_ns,
                              unsigned columns, wake_block_fn *visit, void *context, struct err *err);

/* Which of the allocations of a block match, by their indices, rising; `list` has room for all.  How many.  Called from
 * any thread, for several blocks at once. */
typedef uint32_t wake_match_fn(const void *of, const struct wake_block *block, uint16_t *list);

/* An overview without reading events: the chunks of a process in order. */
struct wake_span {
    uint64_t first_ns, last_ns, first_event;
    uint32_t events, allocations, frees;
    uint64_t live_bytes_first, live_bytes_last, live_bytes_max;
    uint64_t live_blocks_first, live_blocks_last;
};
size_t wake_reader_span_count(const struct wake_reader *r, size_t process);
bool wake_reader_span(const struct wake_reader *r, size_t process, size_t i, struct wake_span *span);

#endif

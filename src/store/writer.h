/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * writer: makes a .wake file (docs/format.md).
 *
 * One writer serves all processes of a recording.  Processes, threads, modules
 * and stacks are numbered by the caller, densely and in order; events are
 * appended to the stream of their process and cut into compressed chunks by
 * the writer.  Nothing is written under the final name until it is a valid
 * file: the header goes first, and every chunk is whole or absent.
 *
 * Errors are sticky: after the first failure (disk full, EFBIG...) every call
 * is cheap and does nothing but count what is lost; wake_writer_close tells.
 * One thread at a time.  No function prints.
 */
#ifndef HW_STORE_WRITER_H
#define HW_STORE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct wake_writer;
struct wake_stream; /* the events of one process; owned by the writer */

struct wake_process_info {
    uint32_t pid, ppid;
    uint32_t parent;   /* index of the parent process + 1, 0 = unknown */
    bool forked;       /* 1: began as a fork: blocks of its parent are inherited */
    bool has_arenas;   /* 1: its usable sizes tell the arena too, see wake_stream_alloc */
    uint64_t start_ns; /* on the recording's clock: ns since the recording began */
    const char *exe;   /* path; may be empty */
    const char *args;  /* NUL between arguments */
    size_t args_length;
    uint64_t sample_rate; /* bytes a sample on average; 0: every block is recorded */
};

struct wake_module_info {
    uint64_t start, end, bias;
    const uint8_t *build_id;
    size_t build_id_length;
    const char *path;
    size_t path_length;
};

/* A frame of a stack: an address inside a module, or an absolute one (module 0). */
struct wake_frame {
    uint64_t address; /* as it was in the process, bit 63 = the very instruction (no return address) */
    uint32_t module;  /* number of the module in its process, counted from 1; 0 = none */
};

/* Totals of one stack over the whole run, written at the end.  Index 0 is "no stack". */
struct wake_stack_totals {
    uint64_t allocations, allocated_bytes;
    uint64_t freed, freed_bytes;
    uint64_t peak_blocks, peak_bytes; /* live at the moment of the process's peak */
    uint64_t temporary;               /* freed by the same thread before its next allocation */
    uint64_t temporary_bytes;
};

/* What the collector knows of a process when its stream ends. */
struct wake_process_end {
    uint64_t end_ns;
    int32_t wait_status; /* as waitpid gives it; -1 = not known */
    bool complete;       /* everything the process published has been read */
    bool execed;         /* the process went on in another image */
    bool goes_on;        /* in the next file of the series: this is how it was when that began */
    bool made_up;        /* imported from sums: these are right, single blocks are made up */
    bool no_clock;       /* imported from a source that has no times: those of events are made up */
    uint64_t allocations, frees, allocated_bytes;
    uint64_t peak_bytes, peak_blocks, peak_time_ns, peak_event;
    uint64_t leaked_blocks, leaked_bytes;
    uint64_t unknown_frees;   /* of blocks never seen */
    uint64_t inherited_frees; /* in a forked child: of blocks that its parent made */
    uint64_t implied_frees;   /* an address handed out again without a free that we saw */
    uint64_t lost_events;
    uint64_t cut_stacks;
    uint64_t peak_rss_bytes;
    uint64_t threads;
};

/* A block still live when the stream ended. */
struct wake_live_block {
    uint64_t allocation; /* its number among the allocations of the process, from 0 */
    uint64_t address, size;
    uint32_t stack;
};

/* What of a process is not among the events of a file, on purpose.  Totals,
 * live blocks and the end of the process count it all the same. */
struct wake_culled_stack {
    uint64_t blocks, bytes; /* each was made and freed */
    uint64_t smallest, largest;
};

struct wake_omissions {
    bool is_culled;
    uint64_t threshold_ns; /* blocks, or whole realloc chains, that lived shorter than this were culled */
    uint64_t culled_blocks, culled_bytes;
    bool is_limited; /* the file has reached its size: no events from limit_ns on */
    uint64_t limit_ns;
    uint64_t allocations, frees, others; /* events that the limit has left out */
    /* Blocks are samples: the events have only some, and all sums of the end and the totals are
     * estimates (store/weight.h).  0: every block is recorded. */
    uint64_t sample_rate;
    uint64_t samples, freed_samples; /* as they were made, culled or not */
    bool has_gaps; /* sampled and culled: what numbers of blocks were as they were made is in the file */
    /* Of a series of which not all files are there: allocations and releases in the others. */
    uint64_t elsewhere_allocations, elsewhere_frees;
};

enum wake_rights { WAKE_READ = 1, WAKE_WRITE = 2, WAKE_EXECUTE = 4, WAKE_SHARED = 8 };

/* How a range of addresses was used when a sample was taken. */
struct wake_usage {
    uint64_t start, end;
    uint64_t rss_bytes, anonymous_bytes, swap_bytes; /* whole KiB */
    uint8_t rights;                                  /* enum wake_rights */
    bool is_gone; /* nothing is there any more, as far as the samples go; then all below start and end is 0 */
    const char *name; /* a file, "[heap]", "[anon:NAME]"; "" = none */
};

struct wake_cull_options {
    uint64_t threshold_ns;
    size_t pending; /* events that may wait, 64 bytes each; rounded up to a power of two */
};

int wake_writer_open(struct wake_writer **w, const char *path, struct err *err);
/* For a copy: the file says that it was begun and closed then (CLOCK_REALTIME; 0 = now). */
int wake_writer_open_dated(struct wake_writer **w, const char *path, uint64_t begin_ns, uint64_t end_ns,
                           struct err *err);

/* For a recording that was not made now.  wall_ns: CLOCK_REALTIME at its time 0; 0 = not known. */
int wake_writer_open_at(struct wake_writer **w, const char *path, uint64_t wall_ns, struct err *err);

/* The first of several files that follow each other. */
int wake_writer_open_series(struct wake_writer **w, const char *path, struct err *err);

/* Processes that are added from here on are culled (store/cull.h). */
void wake_writer_cull(struct wake_writer *w, const struct wake_cull_options *options);
/* Once the file has this many bytes no more events go into it. */
void wake_writer_limit(struct wake_writer *w, uint64_t bytes);

uint32_t wake_writer_add_process(struct wake_writer *w, const struct wake_process_info *info);
struct wake_stream *wake_writer_stream(struct wake_writer *w, uint32_t process);
void wake_writer_add_thread(struct wake_writer *w, uint32_t process, uint32_t thread, uint32_t tid,
                            uint64_t time_ns);
void wake_writer_name_thread(struct wake_writer *w, uint32_t process, uint32_t thread, const char *name,
                             size_t length, uint64_t time_ns);
/* Numbers modules of a process from 1. */
uint32_t wake_writer_add_module(struct wake_writer *w, uint32_t process, const struct wake_module_info *info);
/* Numbers stacks of a process from 1. Frames innermost first. cut: enum record_cut. */
uint32_t wake_writer_add_stack(struct wake_writer *w, uint32_t process, const struct wake_frame *frames,
                               uint32_t count, uint32_t omitted, unsigned cut);

/* Names a pool; the caller numbers them, from 1. */
void wake_writer_add_pool(struct wake_writer *w, uint32_t process, uint32_t pool, const char *name,
                          const char *unit);

/* Events.  time_ns never decreases within a stream (the caller clamps).  The
 * n-th call of wake_stream_alloc makes allocation number n-1 of the process.
 *   usable: where has_arenas is set, with RECORD_OTHER_ARENA if the block lies in an arena other than glibc's
 *   main one; but what is equal to the size stands for itself.
 *   previous: KIND_REALLOC: number + 1 of the allocation it continues, else 0.
 *   allocation: number of the allocation that is released.
 *   size (of a free): that allocation's size, for the live bytes kept with
 *   every chunk (an overview of the whole run reads nothing else).
 * A free of a block never seen: wake_stream_free_unknown; stack: where it was released, 0 = not known. */
void wake_stream_alloc(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned kind,
                       uint32_t stack, uint64_t address, uint64_t size, uint64_t usable, uint64_t previous);
void wake_stream_free(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned how,
                      uint64_t allocation, uint64_t size);
/* The same, with the stack that it was released from. */
void wake_stream_free_from(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned how,
                           uint32_t stack, uint64_t allocation, uint64_t size);
void wake_stream_free_unknown(struct wake_stream *s, uint64_t time_ns, uint32_t thread, unsigned how,
                              uint32_t stack, uint64_t address);
void wake_stream_map(struct wake_stream *s, uint64_t time_ns, uint32_t thread, uint32_t stack,
                     uint64_t address, uint64_t length, uint32_t prot, uint32_t flags);
void wake_stream_unmap(struct wake_stream *s, uint64_t time_ns, uint32_t thread, uint32_t stack,
                       uint64_t address, uint64_t length);
void wake_stream_brk(struct wake_stream *s, uint64_t time_ns, uint32_t thread, uint32_t stack,
                     uint64_t old_end, uint64_t new_end);
/* Blocks of a pool, which are no part of the heap.  A release says what it releases: the
 * stack and size of its allocation. */
void wake_stream_pool_alloc(struct wake_stream *s, uint64_t time_ns, uint32_t thread, uint32_t pool,
                            uint32_t stack, uint64_t address, uint64_t size);
void wake_stream_pool_free(struct wake_stream *s, uint64_t time_ns, uint32_t thread, uint32_t pool,
                           uint32_t stack, uint64_t address, uint64_t size);
/* A named moment and a note of loss in the stream of time. */
void wake_stream_mark(struct wake_stream *s, uint64_t time_ns, uint32_t thread, const char *name,
                      size_t length);
void wake_stream_lost(struct wake_stream *s, uint64_t time_ns, unsigned reason, uint64_t count);

void wake_writer_sample_rss(struct wake_writer *w, uint32_t process, uint64_t time_ns, uint64_t rss_bytes);
/* What has changed in the use of the address space since the sample before, which was begun took_ns
 * before time_ns: each range is as it was at some moment between.  anew: nothing that was told before
 * counts any more. */
void wake_writer_sample_usage(struct wake_writer *w, uint32_t process, uint64_t time_ns, uint64_t took_ns,
                              bool anew, const struct wake_usage *ranges, size_t count);

/* A sentence about the whole recording, for people.  At most 16 KiB; more is cut. */
void wake_writer_add_note(struct wake_writer *w, const char *text, size_t length);

/* So many processes more ran meanwhile that could not be recorded. */
void wake_writer_add_unrecorded(struct wake_writer *w, uint64_t processes);

/* Sends what is pending to the file, so that a reader (or a crash of ours) finds it there. */
void wake_writer_flush(struct wake_writer *w);
/* It is now_ns on the recording's clock: events that were held back until then can go. */
void wake_writer_advance(struct wake_writer *w, uint64_t now_ns);

/* How much each stack held over time, as level_table_encode (store/level_table.h) tells it: goes into the file with the end, or
 * the pause, that comes next. */
void wake_writer_set_levels(struct wake_writer *w, uint32_t process, const void *bytes, size_t length);

/* Ends the stream of a process.  totals[0..stack_count], index = stack number.  Where events
 * are culled the live blocks are renumbered in place. */
void wake_writer_end_process(struct wake_writer *w, uint32_t process, const struct wake_process_end *end,
                             const struct wake_stack_totals *totals, uint32_t stack_count,
                             struct wake_live_block *live, size_t live_count);

/* Bytes of the file so far. */
uint64_t wake_writer_size(const struct wake_writer *w);
/* Opens the file in which a series is to go on, before any process is paused.  On failure it is not
 * needed: this file goes on, or writing has failed. */
int wake_writer_open_next(struct wake_writer *w, const char *path, struct err *err);
/* What wake_writer_end_process takes, as it is now, for a process that goes on in the next file. */
void wake_writer_pause_process(struct wake_writer *w, uint32_t process, const struct wake_process_end *end,
                               const struct wake_stack_totals *totals, uint32_t stack_count,
                               struct wake_live_block *live, size_t live_count);
/* After all processes that have not ended were paused: closes the file and goes on in
 * the next, which can be read alone, or together with those before it (store/series.h).
 * Streams and numbers stay. False: the file is full and remains the one; writing has failed, nothing
 * of the pauses is left, and what was opened as the next is nobody's. */
bool wake_writer_rotate(struct wake_writer *w, uint64_t cpu_ns);

/* True when writing has failed. */
bool wake_writer_has_failed(const struct wake_writer *w);

/* Writes index and end, closes, frees.  cpu_ns: CPU time that the collector spent.  On failure: a negative code and a sentence. */
int wake_writer_close(struct wake_writer *w, uint64_t cpu_ns, struct err *err);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * segment: the memory that one profiled process shares with the collector.
 *
 * The probe creates it (a memfd, or a plain file called a spool when there is
 * no collector), fills in the head, hands it over and closes the descriptor.
 * From then on both sides only read and write memory.
 *
 *     offset 0            4096          8192                 pass_offset   filter_offset  chunk_offset
 *     +-------------------+-------------+--------------------+-------------+--------------+-----------------+
 *     | head: who, sizes, | text: exe,  | lanes: u32 first   | pass list,  | table of     | chunk 0 | 1 | . |
 *     | control words     | cmdline     | chunk + 1 of each  | one bit ... | sampled ones | 8 KiB each      |
 *     +-------------------+-------------+--------------------+-------------+--------------+-----------------+
 *
 * A *lane* is one stream of records (wire/record.h) with one writer at a time.
 * It is a chain of chunks: each ends in a LINK record that names the next.  A
 * thread owns a lane while it lives; a lane whose thread has died is taken
 * over by a new thread, which says so with a THREAD record.  A signal handler
 * that allocates in the middle of our own code writes to a second lane of the
 * same thread.
 *
 * Invariants
 *  1. A chunk handed out is all zero.  A record becomes visible when its first
 *     word, which is never zero, is stored with release order after all its
 *     other words: a reader stops at the first zero word and never sees half
 *     a record, whatever kills the writer.
 *  2. Only the collector gives chunks back: it zeroes a chunk once its LINK
 *     has been followed and pushes it on the free list.
 *  3. Whatever a record refers to (a stack, a module) was published before it,
 *     possibly in another lane, and counted in `definitions` between the two.
 *     So a reader that finds that count, after reading an event, as it was
 *     before its last look at all lanes, has seen everything the event refers to.
 *  4. For one address, publication order is the true order: a release is
 *     published before the real free, an acquisition before the pointer is
 *     returned to the program.
 *  5. The reader trusts no number it finds here: the program may have written
 *     over any of it.
 *  6. Chunks of a spool are never given back; next[] has their checksums (wire/seal.h).
 *
 * Switching off and on.  segment_head.control is a count of changes with the
 * state in its low two bits; whoever changes the state adds to the count.  It is zero
 * but for the count when everything is as usual: hooks ask for no more.
 *
 *     ON      everything is told
 *     FADING  allocations are not told, releases are
 *     OFF     of the releases only those that the pass list lets through
 *
 * Program, signal or user switch from ON to FADING and back; the collector
 * makes OFF of FADING a second later.  By then it has seen every allocation
 * that was under way, and has set a bit in the pass list for each block that is
 * live; bit (address / 16) modulo SEGMENT_PASS_BITS.  It clears a bit when the last
 * block that it stands for has been released, so an address that is in use
 * again and again is told of once.  The program only reads the list.
 */
#ifndef HW_WIRE_SEGMENT_H
#define HW_WIRE_SEGMENT_H

#include <stdint.h>

#define SEGMENT_MAGIC UINT64_C(0x31474553454b4157) /* "WAKESEG1" */
#define SEGMENT_VERSION 9u

enum {
    SEGMENT_HEAD_SIZE = 4096,
    SEGMENT_TEXT_SIZE = 4096,
    SEGMENT_CHUNK_SIZE = 8192,
    SEGMENT_CHUNK_WORDS = SEGMENT_CHUNK_SIZE / 8,
};

/* Where stamps come from (segment_head.stamp_kind). */
enum segment_stamp {
    SEGMENT_STAMP_TSC = 1,      /* the CPU's invariant counter; clock holds the same unit */
    SEGMENT_STAMP_SEQUENCE = 2, /* a shared counter: order only; time from clock records */
};

/* What segment_head.sequence begins with, and stays at while stamps are read from the CPU. */
enum { SEGMENT_SEQUENCE_FIRST = 1 };

/* segment_head.clock, where stamps are those of the CPU: nobody advances it. Each event of a lone thread reads the counter,
 * as it does when the latest tick is some milliseconds old. */
enum { SEGMENT_CLOCK_RESTS = 1 };

/* segment_head.collector: written by the collector (ATTACHED, CLOSED), or by the probe (SPOOL). */
enum segment_collector {
    SEGMENT_NOBODY = 0,   /* handed over, not seen yet */
    SEGMENT_ATTACHED = 1, /* drained */
    SEGMENT_CLOSED = 2,   /* the collector will read no more: stop recording */
    SEGMENT_SPOOL = 3,    /* a file: nobody drains, chunks are never given back */
};

/* segment_head.control. */
enum segment_state {
    SEGMENT_ON = 0,
    SEGMENT_FADING = 1,
    SEGMENT_OFF = 2,
    SEGMENT_STATE_MASK = 3,
    SEGMENT_FREE_STACKS = 4, /* beside the state, from the start: releases are told with their stacks */
    SEGMENT_SAMPLED = 8,     /* likewise: only some blocks are told of */
    SEGMENT_MODE_MASK = 15,
    SEGMENT_STATE_STEP = 16, /* one change */
};

enum { SEGMENT_PASS_BITS = 1 << 23, SEGMENT_PASS_SIZE = SEGMENT_PASS_BITS / 8 };

/* What a signal may stand for: segment_head.wishes[]. */
enum segment_wish { SEGMENT_WISH_TOGGLE = 0, SEGMENT_WISH_REPORT, SEGMENT_WISH_TAG, SEGMENT_WISHES };

enum { SEGMENT_ANSWERS = 16 };

/* What the program has used of an allocator that passes no hook: segment_head.unhooked. */
enum segment_unhooked {
    SEGMENT_UNHOOKED_HEAPS = 1,  /* mimalloc's mi_heap_* */
    SEGMENT_UNHOOKED_ARENAS = 2, /* jemalloc's arenas are reset or destroyed as a whole */
    SEGMENT_UNHOOKED_BATCH = 4,  /* jemalloc's experimental.batch_alloc */
    SEGMENT_UNHOOKED_NAMES = 8,  /* the functions of src/probe/allocator_list.h: the system does not let us */
    SEGMENT_UNHOOKED_COUNT = 4
};

/* segment_head.owner: the kernel sets this bit when the collector dies (robust futex). */
#define SEGMENT_OWNER_DIED 0x40000000u

struct segment_head {
    /* Written once by the probe before the segment is handed over. */
    uint64_t magic;
    uint32_t version;
    uint32_t stamp_kind;
    uint64_t size;         /* of the whole file, sparse */
    uint32_t lane_offset;  /* of the lane table */
    uint32_t lane_max;     /* entries in it */
    uint32_t chunk_offset; /* of chunk 0 */
    uint32_t chunk_max;    /* chunks that fit in size */
    uint32_t next_offset;  /* of the free list's next[] words, one u32 a chunk; in a spool the chunks' sums */
    uint32_t pid;          /* as the process sees itself */
    uint32_t ppid;
    uint32_t forked;      /* 1: a forked child, its parent's blocks are inherited */
    uint64_t start_stamp; /* stamp when the process was first seen */
    uint64_t start_ns;    /* CLOCK_MONOTONIC at that moment */
    uint64_t wall_ns;     /* CLOCK_REALTIME at that moment */
    uint32_t exe_length;  /* text page: exe path, then the command line, NUL between arguments */
    uint32_t args_length;
    uint32_t args_cut;    /* 1: the command line did not fit */
    uint32_t depth;       /* HEAPWAKE_DEPTH in force, 0 = whole stacks */
    uint32_t pass_offset; /* of the pass list */
    uint32_t is_precise;  /* 1: HEAPWAKE_PRECISE_TIMESTAMPS: no two events share a time */
    uint32_t is_bypassed; /* 1: another malloc stands before ours, which sees only what that passes on */
    uint32_t has_arenas;  /* 1: usable sizes are glibc's, and have RECORD_OTHER_ARENA in them */

    /* Written by the collector; read by every event.  A cache line of its own. */
    _Alignas(64) uint64_t clock; /* stamp of the latest tick; SEGMENT_CLOCK_RESTS: none comes */
    uint32_t collector;          /* enum segment_collector */
    uint32_t may_wait;           /* 1: no new seccomp filter was there lately: the probe may sleep */
    uint64_t robust_entry;       /* struct robust_list of the kernel, collector's addresses */
    uint32_t owner;              /* the robust futex word */
    uint32_t control;            /* enum segment_state and a count of changes; the program writes it too */
    uint32_t
        pool; /* chunks that may be used before a thread waits; the program writes it where its user has said. 0: not known yet */
    uint32_t
        wait_at_end; /* 1: the kernel may kill the collector when this process has ended (probe/leave.c) */

    /* Written by the probe while it runs. */
    _Alignas(64) uint64_t free_list; /* low half: chunk index + 1, high half: a count against ABA */
    uint32_t fresh;                  /* chunks 0..fresh-1 have been handed out at least once */
    uint32_t lane_count;             /* lanes 0..lane_count-1 exist */
    uint32_t thread_count;           /* threads seen so far */
    uint32_t text_count;             /* TEXT records so far */
    uint64_t lost_events;            /* events that could not be recorded */
    uint64_t lost_nested;            /* of these: allocations of a handler inside a handler inside our code */
    uint64_t waits;                  /* times a thread found no free chunk */
    uint64_t sequence;               /* the next stamp, where they are not read from the CPU */
    uint32_t chunk_limit;            /* chunks mapped by the probe so far (<= chunk_max) */
    uint32_t stopped;                /* 1: the probe has given up, for the reason below */
    uint32_t stop_reason;            /* enum record_lost */
    uint32_t has_gaps; /* 1: there are blocks that were not told of: by somebody's wish, or sampled */
    uint64_t exec_ns;  /* CLOCK_MONOTONIC when the process set out to become another image; 0: has not */
    uint32_t wishes[SEGMENT_WISHES];    /* how often each was uttered; written by a signal handler */
    uint32_t definitions;               /* threads, stacks, modules, texts and pools told of so far */
    uint64_t asked;                     /* requests that somebody waits for: the latest number given out */
    uint64_t answered[SEGMENT_ANSWERS]; /* request n is done when answered[n % SEGMENT_ANSWERS] >= n */

    /* Written once by the probe before the segment is handed over: texts with a NUL, "" = none. */
    char job[48];  /* of a batch system */
    char rank[16]; /* in an MPI program */

    /* Sampling; written once as well. */
    uint64_t sample_rate;   /* bytes a sample on average; 0: every block is told of */
    uint32_t filter_offset; /* of the table of sampled blocks (wire/filter.h); 0: there is none */
    uint32_t is_traced;     /* 1: the probe was built with traces (HEAPWAKE_TRACE) */
    uint32_t unhooked;      /* enum segment_unhooked, written while the program runs */
    uint32_t
        seal; /* of a spool: sum of what is not in chunks (wire/seal.h); 0: its program has not ended in order */

    /* Written by the probe while it runs: processes that cannot connect to either socket of the collector. */
    uint32_t unreached; /* forked children, who write it, and programs that vfork and posix_spawn started */
    uint32_t exec_is_cut_off; /* 1: what this process becomes by exec */
    uint32_t
        unfollowed; /* processes that were started, or become by exec, behind a seccomp filter: nobody records them */
};

static inline uint32_t segment_change(uint32_t control, enum segment_state to)
{
    return ((control & ~(uint32_t)SEGMENT_STATE_MASK) + SEGMENT_STATE_STEP) | to;
}

_Static_assert(sizeof(struct segment_head) <= SEGMENT_HEAD_SIZE, "the head is one page");

/* Where the collector listens: an abstract socket NAME, which ends at the network namespace, and HELLO_FOLDER NAME
 * HELLO_SOCKET, in a folder that is the collector's user's alone. */
#define HELLO_FOLDER "/tmp/"
#define HELLO_SOCKET "/socket"

/* What the probe sends with the descriptor over the collector's socket. */
#define HELLO_MAGIC UINT32_C(0x4f4c4c48) /* "HLLO" */
struct hello {
    uint32_t magic;
    uint32_t version;
    uint8_t token[16]; /* the secret of HEAPWAKE_SOCKET */
    uint32_t pid;      /* as the process sees itself */
    uint32_t ppid;
};

#endif

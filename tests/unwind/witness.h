/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * witness: the file that libwitness.so writes and stack_diff reads. Words of 64 bits.
 *
 *     head     magic | pid | watched.lo | watched.hi | passing.lo | passing.hi
 *     record   tid, frames << 32 | address | size | how the walk ended | frame ...
 *     record   ...
 *
 * `watched` and `passing` are where the code of the library lies. A call into the
 * next allocator that returns into `watched` has a record here, any other has none:
 * so whoever sees the return address knows which calls to look for. Frames go from
 * the caller of the library outwards; frames of the library itself are left out.
 */
#ifndef HW_TESTS_UNWIND_WITNESS_H
#define HW_TESTS_UNWIND_WITNESS_H

#include <stdint.h>

#define WITNESS_MAGIC UINT64_C(0x3153534e54495748) /* "HWITNSS1" */

struct witness_head {
    uint64_t magic;
    uint64_t pid;
    uint64_t watched_lo, watched_hi;
    uint64_t passing_lo, passing_hi;
};

struct witness_record {
    uint32_t tid;
    uint32_t count; /* frames that follow */
    uint64_t address;
    uint64_t size;
    int64_t end; /* what the last unw_step gave: 0 the outermost frame, < 0 an error */
};

enum {
    WITNESS_DEPTH_MAX = 1 << 15,
    WITNESS_END_DEPTH = 1, /* witness_record.end: deeper than WITNESS_DEPTH_MAX */
};

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * format: the numbers of the .wake format.  docs/format.md is the law; this
 * is its table of constants for C.
 *
 *     | file header 64 | chunk | chunk | ... | index chunks | end chunk |
 *
 *     chunk = | chunk header 40 | payload, `stored` bytes |
 */
#ifndef HW_STORE_FORMAT_H
#define HW_STORE_FORMAT_H

#include <stdint.h>

#define FORMAT_MAGIC "HEAPWAKE"
#define FORMAT_CHUNK_MAGIC UINT32_C(0x48434b57) /* "WKCH" */

enum {
    FORMAT_MAJOR = 1,
    FORMAT_MINOR = 6,
    FORMAT_HEADER_SIZE = 64,
    FORMAT_CHUNK_HEADER_SIZE = 40,
    FORMAT_PAYLOAD_MAX = 16 << 20, /* raw and stored bytes of one chunk */
    FORMAT_EVENTS_MAX = 1 << 20,   /* events of one chunk */
    FORMAT_PRELUDE_SIZE = 96,      /* of an events chunk */
    FORMAT_COLUMN_ENTRY_SIZE = 12,
    FORMAT_END_SIZE = 56, /* payload of the end chunk */
};

/* What marks are called where recording was switched. */
#define FORMAT_MARK_ON "recording on"
#define FORMAT_MARK_OFF "recording off"

#define FORMAT_NO_PROCESS UINT32_MAX /* chunk header: the chunk belongs to the recording */

enum format_type {
    FORMAT_PROCESS = 1,
    FORMAT_THREADS = 2,
    FORMAT_MODULES = 3,
    FORMAT_STACKS = 4,
    FORMAT_EVENTS = 5,
    FORMAT_SAMPLES = 6,
    FORMAT_MARKS = 7,
    FORMAT_PROCESS_END = 8,
    FORMAT_TOTALS = 9,
    FORMAT_LIVE = 10,
    FORMAT_INDEX = 11,
    FORMAT_END = 12,
    FORMAT_SYMBOLS = 13, /* of the whole recording, like the rest of these */
    FORMAT_BINARY = 14,
    FORMAT_POOLS = 15,     /* of a process */
    FORMAT_OMISSIONS = 16, /* likewise */
    FORMAT_CARRIED = 17,   /* likewise */
    FORMAT_NOTES = 18,     /* of the whole recording */
    FORMAT_USAGE = 19,     /* of a process */
    FORMAT_LEVELS = 20,    /* likewise */
    FORMAT_GAPS = 21,      /* likewise */
    FORMAT_TYPE_COUNT
};

/* Chunk header flags, and the codec byte of a column. */
enum {
    FORMAT_PLAIN = 0,
    FORMAT_ZSTD = 1,
};

/* The op byte of an event. */
enum {
    OP_CODE = 0x1f,
    OP_TIME = 0x20,   /* the time column has a difference for it */
    OP_THREAD = 0x40, /* the thread column has one */
    OP_STACK = 0x80,  /* an allocation: the stack column has its stack; a release: the free stack column */

    OP_ALLOC_MAX = 15, /* codes 1..15: an allocation of that enum record_kind */
    OP_FREE = 16,      /* codes 16..23: a release, how = code - 16 */
    OP_FREE_MAX = 23,
    OP_RARE = 24, /* a record in the rare column */
};

enum format_column {
    COLUMN_OP = 1,
    COLUMN_TIME = 2,
    COLUMN_THREAD = 3,
    COLUMN_STACK = 4,
    COLUMN_SIZE = 5,
    COLUMN_USABLE = 6,
    COLUMN_ADDRESS_LOW = 7,
    COLUMN_ADDRESS_HIGH = 8,
    COLUMN_ADDRESS_ODD = 9,
    COLUMN_REF = 10,
    COLUMN_PREVIOUS = 11,
    COLUMN_RARE = 12,
    COLUMN_FREE_STACK = 13,
    COLUMN_ARENA = 14,
    COLUMN_COUNT
};

/* Types of the records in the rare column. */
enum format_rare {
    RARE_FREE_UNKNOWN = 1,
    RARE_MAP = 2,
    RARE_UNMAP = 3,
    RARE_BRK = 4,
    RARE_MARK = 5,
    RARE_LOST = 6,
    RARE_POOL_ALLOC = 7,
    RARE_POOL_FREE = 8,
    RARE_COUNT
};

/* Records of a threads chunk. */
enum {
    THREAD_BEGINS = 1,
    THREAD_NAMED = 2,
};

enum {
    PROCESS_FORKED = 1, /* flags of a process record */
    PROCESS_ARENAS = 2,
    END_COMPLETE = 1, /* flags of a process-end record */
    END_EXECED = 2,
    END_GOES_ON = 4,      /* in the next file of the series */
    END_MADE_UP = 8,      /* imported from sums */
    END_NO_CLOCK = 16,    /* imported without times */
    OMISSIONS_CULLED = 1, /* flags of an omissions record */
    OMISSIONS_LIMITED = 2,
    OMISSIONS_SAMPLED = 4,
    OMISSIONS_GAPS = 8,
    USAGE_ANEW = 1,  /* flags of a usage record */
    USAGE_GONE = 16, /* state of a range; the bits below are enum wake_rights */
};

#endif

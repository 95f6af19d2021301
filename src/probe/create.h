/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * create: the making of a segment, for share_open and for the spool.
 */
#ifndef HW_PROBE_CREATE_H
#define HW_PROBE_CREATE_H

#include "probe/share.h"

enum {
    CREATE_NEXT_SIZE = SHARE_WINDOWS_MAX * SHARE_WINDOW_CHUNKS * 4,
    CREATE_LANES_SIZE = SHARE_LANES_MAX * 4,
    CREATE_LANES_AT = SEGMENT_HEAD_SIZE + SEGMENT_TEXT_SIZE,
    CREATE_NEXT_AT = CREATE_LANES_AT + CREATE_LANES_SIZE,
    CREATE_PASS_AT = CREATE_NEXT_AT + CREATE_NEXT_SIZE,
    CREATE_FILTER_AT = CREATE_PASS_AT + SEGMENT_PASS_SIZE,
    CREATE_CHUNKS_AT = CREATE_FILTER_AT + sizeof(struct filter),
    CREATE_CHUNKS_MIN = 16,
    CREATE_POOL_MIN = 1 << 20,
    CREATE_POOL_MAX = SHARE_WINDOWS_MAX * SHARE_WINDOW_CHUNKS / 1024 * SEGMENT_CHUNK_SIZE * 1024,
};

/* How many chunks a file may hold under the program's own limits; sets share.pool. */
uint32_t create_chunks(void);

/* Maps the first window of fd, a file of `chunks` chunks, and fills in the head. */
bool create_map(int fd, uint32_t chunks, bool forked);

/* spool.c: a plain file instead of a collector; and room in it for so many chunks. */
bool spool_open(bool forked);
bool spool_grow(uint32_t chunks);

/* The process is about to end: what it has written gets its checksums. No spool: nothing. Takes no lock and makes no
 * system call; may come several times, in a child of vfork (it is the parent's, which goes on) and in a handler. */
void spool_seal(void);
/* Before anything changes that is sealed. */
void spool_unseal(void);

#endif

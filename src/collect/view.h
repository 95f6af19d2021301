/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * view: the collector's mapping of one segment (wire/segment.h).
 *
 * Every number that says where something lies is read once, checked against
 * the real size of the file and copied here; the segment's own copy is never
 * looked at again.  A file that could shrink under us is refused.
 */
#ifndef HW_COLLECT_VIEW_H
#define HW_COLLECT_VIEW_H

#include "tool/err.h"
#include "wire/segment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct view {
    uint8_t *base; /* NULL: not mapped */
    size_t size;
    bool is_spool;
    bool is_cut;               /* only the front of the segment could be mapped */
    struct segment_head *head; /* live: control words only */
    struct segment_head fixed; /* the part written once, as it was checked */
    uint32_t *lanes;           /* fixed.lane_max entries: first chunk + 1 */
    uint32_t *next;            /* fixed.chunk_max entries */
    uint32_t *pass;            /* SEGMENT_PASS_BITS of them */
    uint8_t *chunks;
    struct filter *filter;           /* (wire/filter.h), or NULL */
    char exe[SEGMENT_TEXT_SIZE + 1]; /* NUL-terminated */
    char args[SEGMENT_TEXT_SIZE + 1];
    size_t args_length;
};

/* Maps the segment in fd, which stays the caller's.  ERR_INPUT: it makes no sense. */
int view_open(struct view *v, int fd, struct err *err);
/* The same for a spool: a private mapping, the file is not written. */
int view_open_spool(struct view *v, int fd, struct err *err);
/* Accepts a zeroed view. */
void view_close(struct view *v);

/* The program's threads need not wait before they have used so many chunks, unless its user has said how many. */
void view_allow(struct view *v, uint32_t chunks);

static inline uint64_t *view_chunk(const struct view *v, uint32_t index)
{
    return (uint64_t *)(void *)(v->chunks + (size_t)index * SEGMENT_CHUNK_SIZE);
}

#endif

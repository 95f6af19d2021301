/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * robust: tells every attached segment when the collector dies, whatever kills
 * it: the kernel walks the calling thread's list of robust futexes on its
 * death and sets SEGMENT_OWNER_DIED in the owner word of each.
 *
 * The list runs through the segments themselves (segment_head.robust_entry),
 * so the program could bend it; then only its own warning is lost.  The kernel
 * follows at most 2048 entries; segments beyond that are not watched.
 * All functions from one thread, the collector's main one.
 */
#ifndef HW_COLLECT_ROBUST_H
#define HW_COLLECT_ROBUST_H

#include "wire/segment.h"

#include <linux/futex.h>
#include <stddef.h>

struct robust {
    struct robust_list_head head;
    struct segment_head **segments;
    size_t count, room;
};

void robust_init(struct robust *r);
void robust_release(struct robust *r);
/* Puts our name in the segment's owner word and the segment in the list. */
void robust_add(struct robust *r, struct segment_head *segment);
void robust_remove(struct robust *r, struct segment_head *segment);

#endif

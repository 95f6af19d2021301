/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * unrecorded_children: children of vfork and posix_spawn that became programs which cannot be recorded: their
 * parents have told of them, and they never say hello.
 *
 *     told, came      nobody is missing, in whatever order these are heard
 *     told, back      its exec has failed
 *     told            a stranger
 *
 * Who came and was not told of (children of strangers, of clone) is forgotten after ten to twenty seconds, since its
 * number may be another's one day.
 */
#ifndef HW_COLLECT_UNRECORDED_CHILDREN_H
#define HW_COLLECT_UNRECORDED_CHILDREN_H

#include "tool/map.h"

#include <stdint.h>

struct unrecorded_children {
    struct map
        balances; /* process -> how often it was told of, less how often that was taken back or it came; never 0 */
    struct map early; /* of these, those that had come and were not told of when last looked at */
    uint64_t looked_ns;
};

void unrecorded_children_init(struct unrecorded_children *s);
void unrecorded_children_release(struct unrecorded_children *s);
/* Without memory somebody is missing in the count. */
void unrecorded_children_told(struct unrecorded_children *s, uint32_t pid);
void unrecorded_children_back(struct unrecorded_children *s, uint32_t pid);
/* own: the number by which it knows itself, which in a namespace below ours is another. */
void unrecorded_children_came(struct unrecorded_children *s, uint32_t pid, uint32_t own);
/* To be called now and then: forgets who came long ago. */
void unrecorded_children_look(struct unrecorded_children *s, uint64_t now_ns);
/* How many there are. */
uint64_t unrecorded_children_count(const struct unrecorded_children *s);

#endif

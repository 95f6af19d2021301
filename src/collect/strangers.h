/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * strangers: children of vfork and posix_spawn that became programs which cannot be recorded: their
 * parents have told of them, and they never say hello.
 *
 *     told, came      nobody is missing, in whatever order these are heard
 *     told, back      its exec has failed
 *     told            a stranger
 *
 * Who came and was not told of (children of strangers, of clone) is forgotten after ten to twenty seconds, since its
 * number may be another's one day.
 */
#ifndef HW_COLLECT_STRANGERS_H
#define HW_COLLECT_STRANGERS_H

#include "tool/map.h"

#include <stdint.h>

struct strangers {
    struct map
        balances; /* process -> how often it was told of, less how often that was taken back or it came; never 0 */
    struct map early; /* of these, those that had come and were not told of when last looked at */
    uint64_t looked_ns;
};

void strangers_init(struct strangers *s);
void strangers_release(struct strangers *s);
/* Without memory somebody is missing in the count. */
void strangers_told(struct strangers *s, uint32_t pid);
void strangers_back(struct strangers *s, uint32_t pid);
/* own: the number by which it knows itself, which in a namespace below ours is another. */
void strangers_came(struct strangers *s, uint32_t pid, uint32_t own);
/* To be called now and then: forgets who came long ago. */
void strangers_look(struct strangers *s, uint64_t now_ns);
/* How many there are. */
uint64_t strangers_count(const struct strangers *s);

#endif

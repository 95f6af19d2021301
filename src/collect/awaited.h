/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * awaited: children that their parents have told of and that have not said hello.  The collector
 * does not leave while one of them may still come.
 *
 * None comes any more that has ended, be it that nobody has taken note of its end (a zombie: the first
 * process of a container may not), nor, it is taken, one that has not come after ten seconds: it was
 * shut in, or has become what cannot be recorded.
 *
 * A parent in a PID namespace below ours tells the number that its child has there.  What it has here
 * is in /proc alone, which is read when there is nobody else to stay for.
 */
#ifndef HW_COLLECT_AWAITED_H
#define HW_COLLECT_AWAITED_H

#include "tool/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct awaited_child {
    uint32_t pid;
    bool is_inner; /* its number in a namespace below ours */
    bool is_seen;  /* a process has that number, by the latest look */
    uint64_t until_ns;
};

struct awaited {
    VEC(struct awaited_child) list;
    uint64_t next_look_ns;
};

/* Somebody has told of it at now_ns. Without memory it is not waited for. */
void awaited_add(struct awaited *a, uint32_t pid, bool is_inner, uint64_t now_ns);
/* It has come: its number here, and the one by which it knows itself. */
void awaited_remove(struct awaited *a, uint32_t pid, uint32_t inner);
/* Drops those that come no more.  is_idle: nobody else is there. */
void awaited_settle(struct awaited *a, bool is_idle, uint64_t now_ns);
void awaited_release(struct awaited *a);

#endif

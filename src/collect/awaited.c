/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * awaited: see awaited.h.
 */
#include "collect/awaited.h"

#include "collect/procfs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define AWAITED_PATIENCE_NS UINT64_C(10000000000)
#define AWAITED_LOOK_NS UINT64_C(100000000) /* between readings of /proc */

void awaited_add(struct awaited *a, uint32_t pid, bool is_inner, uint64_t now_ns)
{
    (void)vec_push(
        &a->list,
        ((struct awaited_child){.pid = pid, .is_inner = is_inner, .until_ns = now_ns + AWAITED_PATIENCE_NS}));
}

static void awaited_drop(struct awaited *a, size_t i)
{
    a->list.data[i] = a->list.data[--a->list.count];
}

void awaited_remove(struct awaited *a, uint32_t pid, uint32_t inner)
{
    for (size_t i = a->list.count; i-- > 0;) {
        const struct awaited_child *child = &a->list.data[i];
        if (child->pid == inner || (child->pid == pid && !child->is_inner))
            awaited_drop(a, i);
    }
}

/* A zombie does not run; where the kernel has no pidfd (before 5.3) that is not known. */
static bool awaited_is_running(uint32_t pid)
{
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return false;
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0), .events = POLLIN};
    if (end.fd < 0)
        return errno != ESRCH;
    bool has_ended = poll(&end, 1, 0) == 1;
    close(end.fd);
    return !has_ended;
}

/* A process has this number: whoever is awaited under it is still there, until the next look. */
static void awaited_note(void *of, uint32_t inner)
{
    struct awaited *a = of;
    for (size_t i = 0; i < a->list.count; i++)
        a->list.data[i].is_seen |= a->list.data[i].is_inner && a->list.data[i].pid == inner;
}

static void awaited_look(struct awaited *a)
{
    for (size_t i = 0; i < a->list.count; i++)
        a->list.data[i].is_seen = false;
    if (!procfs_visit_inner(awaited_note, a))
        return;
    for (size_t i = a->list.count; i-- > 0;) {
        if (a->list.data[i].is_inner && !a->list.data[i].is_seen)
            awaited_drop(a, i);
    }
}

void awaited_settle(struct awaited *a, bool is_idle, uint64_t now_ns)
{
    bool has_inner = false;
    for (size_t i = a->list.count; i-- > 0;) {
        const struct awaited_child *child = &a->list.data[i];
        if (now_ns >= child->until_ns || (!child->is_inner && !awaited_is_running(child->pid)))
            awaited_drop(a, i);
        else
            has_inner |= child->is_inner;
    }
    if (has_inner && is_idle && now_ns >= a->next_look_ns) {
        a->next_look_ns = now_ns + AWAITED_LOOK_NS;
        awaited_look(a);
    }
}

void awaited_release(struct awaited *a)
{
    vec_release(&a->list);
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * leave: see leave.h.
 *
 * exit() runs handlers, the latest first; the first of all runs the destructors of libraries, and among
 * these ours. What is registered there runs next, when all libraries have been left:
 *
 *     handlers of the program -> [ destructors, ours registers leave_last ] -> leave_last -> _exit inside libc
 *
 * A static program has all its calls of _exit wrapped, those inside libc too.
 */
#include "probe/leave.h"

#include "probe/create.h"
#include "probe/handover.h"
#include "probe/hook.h"
#include "probe/lane.h"
#include "probe/life.h"
#include "probe/note.h"
#include "probe/real.h"
#include "probe/share.h"
#include "probe/sys.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define LEAVE_LIMIT_NS UINT64_C(2000000000)
/* The number of the machine's own PID namespace: the kernel's PROC_PID_INIT_INO. */
#define LEAVE_FIRST_NAMESPACE UINT64_C(0xeffffffc)

extern int __cxa_atexit(void (*handler)(void *), void *argument, void *library);
extern int __cxa_at_quick_exit(void (*handler)(void *), void *library) __attribute__((weak));

/* A collector that has not come yet has not said whether it is to be waited for. Outside of all namespaces it never is. */
static bool leave_is_due(void)
{
    const struct segment_head *head = share.head;
    switch (__atomic_load_n(&head->collector, __ATOMIC_ACQUIRE)) {
    case SEGMENT_NOBODY:
        return handover_namespace("/proc/self/ns/pid") != LEAVE_FIRST_NAMESPACE;
    case SEGMENT_ATTACHED:
        return __atomic_load_n(&head->wait_at_end, __ATOMIC_RELAXED) != 0;
    default:
        return false;
    }
}

static bool leave_is_possible(void)
{
    return life.state == LIFE_ON && share_is_own() && *lane_fork_word == 1;
}

static void leave_tell(enum record_mark mark, const void *frame)
{
    if (!leave_is_due())
        return;
    uint64_t request = note_mark(mark, NULL, true, frame);
    (void)handover_is_refused(&handover); /* wakes the collector, which may sleep for 40 ms */
    (void)share_await(request, sys_monotonic_ns() + LEAVE_LIMIT_NS);
}

/* Once in a process: exit comes by here twice in a static program. */
static void leave(const void *frame)
{
    static uint32_t left;
    spool_seal();
    if (leave_is_possible() && __atomic_exchange_n(&left, life.pid, __ATOMIC_RELAXED) != life.pid)
        leave_tell(MARK_END, frame);
}

static __attribute__((noreturn)) void leave_at_once(int status, const void *frame)
{
    const struct real *call = life_real();
    leave(frame);
    if (call != NULL)
        call->_Exit(status); /* musl has _exit call this */
    for (;;)
        SYS_CALL(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

HOOK void _exit(int status)
{
    leave_at_once(status, HOOK_FRAME);
}

HOOK void _Exit(int status)
{
    leave_at_once(status, HOOK_FRAME);
}

/* A handler may leave by longjmp: then the process goes on. */
static bool leave_is_abort_final(void)
{
    uint64_t action[4] = {0}; /* struct sigaction of the kernel: the handler, flags, the restorer, the mask */
    SYS_CALL(SYS_rt_sigaction, SIGABRT, 0, action, 8, 0, 0);
    return action[0] == (uint64_t)(uintptr_t)SIG_DFL || action[0] == (uint64_t)(uintptr_t)SIG_IGN;
}

HOOK void abort(void)
{
    const struct real *call = life_real();
    spool_seal();
    if (leave_is_possible() && !leave_is_abort_final())
        leave_tell(MARK_FLUSH, HOOK_FRAME);
    else
        leave(HOOK_FRAME);
    if (call != NULL)
        call->abort();
    __builtin_trap();
}

static void leave_last(void *none)
{
    (void)none;
    leave(HOOK_FRAME);
}

__attribute__((destructor)) static void leave_destructor(void)
{
    if (life.state == LIFE_ON)
        (void)__cxa_atexit(leave_last, NULL, NULL);
}

void leave_open(void)
{
    if (__cxa_at_quick_exit != NULL)
        (void)__cxa_at_quick_exit(leave_last, NULL);
}

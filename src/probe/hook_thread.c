/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hook_thread: names that threads get, and the moment a sandbox closes.
 *
 * Once a seccomp filter is installed any system call of ours could kill the
 * program, so none is made from then on (life_sandbox); recording goes on.
 * Strict mode, and PR_SET_TSC, make even a look at the CPU's counter deadly.
 * Both come by prctl or by syscall(); the latter is watched in a stub that
 * changes no register and jumps on, since syscall() may return twice or on
 * another stack. So there it has to be seen beforehand that nothing will be installed: libraries
 * ask in such ways what the kernel can do.
 */
#include "base/digits.h"
#include "probe/env.h"
#include "probe/event.h"
#include "probe/hook.h"
#include "probe/lane.h"
#include "probe/life.h"
#include "probe/memory.h"
#include "probe/real.h"
#include "probe/share.h"
#include "probe/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <pthread.h>

/* What the child of a vfork forbids itself does not hold for the parent, whose memory it uses. */
static bool hook_is_vforked(void)
{
    return life.state == LIFE_ON && !life_is_caged() && *lane_fork_word != 0 &&
           (uint32_t)sys_getpid() != life.pid;
}

/* From now on nothing may be asked of the kernel: takes what will be needed. Where a vfork child had shut itself in it
 * may be that child again, or its parent: nothing is asked for, and both are taken to be in it. */
static void hook_enter_sandbox(const void *frame)
{
    if (life.state != LIFE_ON || tls_caged == 0) { /* before our birth there may be no TLS */
        memory_lay_in();
        event_meet(frame);
    }
    __atomic_fetch_add(&life_sandbox, 1, __ATOMIC_RELAXED);
}

/* What is to be taken back if the call fails. */
enum hook_closing { HOOK_NOTHING, HOOK_SANDBOX, HOOK_CAGE };

static enum hook_closing hook_note_prctl(int option, unsigned long value, unsigned long filter,
                                         const void *frame)
{
    bool is_strict = option == PR_SET_SECCOMP && value == SECCOMP_MODE_STRICT;
    bool is_filter = option == PR_SET_SECCOMP && value == SECCOMP_MODE_FILTER && filter != 0;
    bool is_blind = option == PR_SET_TSC && value == PR_TSC_SIGSEGV;
    if (!is_strict && !is_filter && !is_blind)
        return HOOK_NOTHING;
    if (hook_is_vforked()) {
        if (is_blind)
            return HOOK_NOTHING;
        env_lay_in();
        tls_caged = 1;
        return HOOK_CAGE;
    }
    if (!is_blind)
        hook_enter_sandbox(frame);
    if (!is_filter)
        share_leave_counter();
    return is_blind ? HOOK_NOTHING : HOOK_SANDBOX;
}

/* Called by the stub of syscall() alone. */
__attribute__((visibility("hidden"), used)) void hook_note_syscall(long number, unsigned long a,
                                                                   unsigned long b, unsigned long c);
void hook_note_syscall(long number, unsigned long a, unsigned long b, unsigned long c)
{
    if (number == SYS_prctl)
        (void)hook_note_prctl((int)a, b, c, HOOK_FRAME);
    else if ((unsigned)a == SECCOMP_SET_MODE_STRICT && (unsigned)b == 0 && c == 0)
        (void)hook_note_prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, HOOK_FRAME);
    else if ((unsigned)a == SECCOMP_SET_MODE_FILTER)
        (void)hook_note_prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, c, HOOK_FRAME);
}

/* libc declares it with an ellipsis; it takes what the kernel takes. */
int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);

HOOK int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
    if (HOOK_RARE(real.prctl == NULL) && !life_begin())
        return (int)hook_result(SYS_CALL(SYS_prctl, option, a, b, c, d, 0));
    enum hook_closing closing = hook_note_prctl(option, a, b, HOOK_FRAME);
    int result = real.prctl(option, a, b, c, d);
    if (closing == HOOK_SANDBOX && result != 0)
        __atomic_fetch_sub(&life_sandbox, 1, __ATOMIC_RELAXED);
    else if (closing == HOOK_CAGE && result != 0)
        tls_caged = 0;
    if (option == PR_SET_NAME && result == 0)
        event_thread_name(0, (const char *)a, HOOK_FRAME);
    return result;
}

/* Does the kernel know a thread with this tid, by this name? */
static bool hook_has_name(uint32_t tid, const char *name)
{
    char text[64] = "/proc/self/task/";
    memory_copy(digits_put(text + 16, tid), "/comm", 6);
    long fd = sys_open(text, O_RDONLY | O_CLOEXEC, 0);
    if (sys_failed(fd))
        return false;
    long length = sys_read((int)fd, text, sizeof text - 1);
    sys_close((int)fd);
    long i = 0;
    while (i < length && name[i] != '\0' && text[i] == name[i])
        i++;
    return i + 1 == length && name[i] == '\0'; /* a line */
}

/* Another thread has been named. libc gives the pthread_t of a thread that has ended, and of which the
 * kernel may still know, to a new one; which of them it was, the name itself tells. */
static void hook_name_other(pthread_t thread, const char *name, const void *frame)
{
    uint32_t tid, at = 0;
    while (!life_sandbox && (tid = lane_next_tid(thread, &at)) != 0) {
        if (hook_has_name(tid, name))
            event_thread_name(tid, name, frame);
    }
}

HOOK int pthread_setname_np(pthread_t thread, const char *name)
{
    const struct real *call = life_real();
    if (call == NULL)
        return ENOSYS;
    int result = call->pthread_setname_np(thread, name);
    if (result == 0 && thread == (pthread_t)arch_thread_pointer())
        event_thread_name(0, name, HOOK_FRAME);
    else if (result == 0)
        hook_name_other(thread, name, HOOK_FRAME);
    return result;
}

void *hook_real_syscall __attribute__((visibility("hidden")));

/* Told by life once the real functions are known. */
void hook_thread_publish(void)
{
    hook_real_syscall = real_find_name("syscall");
}

ARCH_SYSCALL_STUB(hook_real_syscall, hook_note_syscall)

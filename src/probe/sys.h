/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * sys: the system calls that the probe makes, one line each.  All of them are
 * off the common path; none goes through libc, so none is a cancellation point
 * and none touches errno.  Results are the kernel's: negative is -errno.
 */
#ifndef HW_PROBE_SYS_H
#define HW_PROBE_SYS_H

#include "probe/arch.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#define SYS_CALL(number, a, b, c, d, e, f) \
    arch_syscall((number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static inline long sys_mmap(void *at, size_t length, int prot, int flags, int fd, long offset)
{
    return SYS_CALL(SYS_mmap, at, length, prot, flags, fd, offset);
}

static inline long sys_munmap(void *at, size_t length)
{
    return SYS_CALL(SYS_munmap, at, length, 0, 0, 0, 0);
}

static inline long sys_mremap(void *at, size_t old_length, size_t length, int flags)
{
    return SYS_CALL(SYS_mremap, at, old_length, length, flags, 0, 0);
}

static inline long sys_mprotect(void *at, size_t length, int prot)
{
    return SYS_CALL(SYS_mprotect, at, length, prot, 0, 0, 0);
}

static inline long sys_madvise(void *at, size_t length, int advice)
{
    return SYS_CALL(SYS_madvise, at, length, advice, 0, 0, 0);
}

static inline long sys_memfd_create(const char *name, unsigned flags)
{
    return SYS_CALL(SYS_memfd_create, name, flags, 0, 0, 0, 0);
}

static inline long sys_open(const char *path, int flags, unsigned mode)
{
    return SYS_CALL(SYS_openat, -100 /* AT_FDCWD */, path, flags, mode, 0, 0);
}

static inline long sys_read(int fd, void *bytes, size_t length)
{
    return SYS_CALL(SYS_read, fd, bytes, length, 0, 0, 0);
}

static inline long sys_pread(int fd, void *bytes, size_t length, long offset)
{
    return SYS_CALL(SYS_pread64, fd, bytes, length, offset, 0, 0);
}

static inline long sys_ftruncate(int fd, uint64_t length)
{
    return SYS_CALL(SYS_ftruncate, fd, length, 0, 0, 0, 0);
}

static inline long sys_fallocate(int fd, int mode, uint64_t offset, uint64_t length)
{
    return SYS_CALL(SYS_fallocate, fd, mode, offset, length, 0, 0);
}

static inline long sys_close(int fd)
{
    return SYS_CALL(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline long sys_socket(int domain, int type, int protocol)
{
    return SYS_CALL(SYS_socket, domain, type, protocol, 0, 0, 0);
}

static inline long sys_socketpair(int domain, int type, int protocol, int pair[2])
{
    return SYS_CALL(SYS_socketpair, domain, type, protocol, pair, 0, 0);
}

static inline long sys_connect(int fd, const void *address, unsigned length)
{
    return SYS_CALL(SYS_connect, fd, address, length, 0, 0, 0);
}

static inline long sys_sendmsg(int fd, const void *message, int flags)
{
    return SYS_CALL(SYS_sendmsg, fd, message, flags, 0, 0, 0);
}

static inline long sys_getpid(void)
{
    return SYS_CALL(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static inline long sys_getppid(void)
{
    return SYS_CALL(SYS_getppid, 0, 0, 0, 0, 0, 0);
}

static inline long sys_gettid(void)
{
    return SYS_CALL(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static inline long sys_tgkill(int pid, int tid, int signal)
{
    return SYS_CALL(SYS_tgkill, pid, tid, signal, 0, 0, 0);
}

static inline long sys_prctl(int option, void *argument)
{
    return SYS_CALL(SYS_prctl, option, argument, 0, 0, 0, 0);
}

static inline long sys_getrlimit(int resource, uint64_t limit[2])
{
    return SYS_CALL(SYS_prlimit64, 0, resource, 0, limit, 0, 0);
}

static inline long sys_clock_gettime(int clock, int64_t time[2])
{
    return SYS_CALL(SYS_clock_gettime, clock, time, 0, 0, 0, 0);
}

static inline uint64_t sys_monotonic_ns(void)
{
    int64_t time[2] = {0, 0};
    sys_clock_gettime(1 /* CLOCK_MONOTONIC */, time);
    return (uint64_t)time[0] * 1000000000u + (uint64_t)time[1];
}

static inline long sys_nanosleep(const int64_t time[2])
{
    return SYS_CALL(SYS_nanosleep, time, 0, 0, 0, 0, 0);
}

static inline long sys_sched_yield(void)
{
    return SYS_CALL(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

static inline long sys_sigaltstack(const void *set, void *old)
{
    return SYS_CALL(SYS_sigaltstack, set, old, 0, 0, 0, 0);
}

/* Can the eight bytes at `address` be read?  The kernel fetches the signal set
 * from there before it finds that -1 is no way to apply it. */
static inline int sys_is_readable(uint64_t address)
{
    return SYS_CALL(SYS_rt_sigprocmask, -1, address, 0, 8, 0, 0) != -14 /* EFAULT */;
}

struct stat;

static inline long sys_fstat(int fd, struct stat *st)
{
    return SYS_CALL(SYS_fstat, fd, st, 0, 0, 0, 0);
}

/* Until sys_unblock_signals gets what this returns, no handler interrupts the thread; but for those of signals that the
 * thread's own instructions raise (a program may step through itself), which would kill it. */
static inline uint64_t sys_block_signals(void)
{
    const uint64_t raised = 1u << (SIGILL - 1) | 1u << (SIGTRAP - 1) | 1u << (SIGBUS - 1) |
                            1u << (SIGFPE - 1) | 1u << (SIGSEGV - 1) | 1u << (SIGSYS - 1);
    uint64_t all = ~raised, before = 0;
    SYS_CALL(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &all, &before, 8, 0, 0);
    return before;
}

static inline void sys_unblock_signals(uint64_t before)
{
    SYS_CALL(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &before, 0, 8, 0, 0);
}

static inline int sys_failed(long result)
{
    return (unsigned long)result >= (unsigned long)-4095L;
}

#endif

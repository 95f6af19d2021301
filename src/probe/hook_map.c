/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hook_map: mappings and the program break, kept apart from heap blocks.
 *
 * Only the program's own calls pass here, and those of allocators other than
 * glibc's; glibc's malloc and the loader map memory without asking anyone.
 * HEAPWAKE_MMAP=0 switches the telling off. Before birth the kernel is asked
 * directly, but for the break, which libc keeps count of.
 */
#include "probe/environment.h"
#include "probe/event.h"
#include "probe/hook.h"
#include "probe/life.h"
#include "probe/memory.h"
#include "probe/real.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

enum hook_map_wish { HOOK_MAP_UNREAD = 0, HOOK_MAP_ON = 1, HOOK_MAP_OFF = 2 };

static uint32_t hook_map_wish;

static bool hook_map_is_on(void)
{
    uint32_t wish = __atomic_load_n(&hook_map_wish, __ATOMIC_RELAXED);
    if (HOOK_RARE(wish == HOOK_MAP_UNREAD)) {
        wish = environment_number("HEAPWAKE_MMAP", 0, 1, 1) == 0 ? HOOK_MAP_OFF : HOOK_MAP_ON;
        __atomic_store_n(&hook_map_wish, wish, __ATOMIC_RELAXED);
    }
    return wish == HOOK_MAP_ON;
}

static void *hook_map(void *at, size_t length, int prot, int flags, int fd, off_t offset, const void *frame)
{
    if (HOOK_RARE(real.mmap == NULL) && !life_begin()) {
        long result = sys_mmap(at, length, prot, flags, fd, offset);
        return sys_failed(result) ? MAP_FAILED : (void *)result;
    }
    void *result = real.mmap(at, length, prot, flags, fd, offset);
    if (result != MAP_FAILED && hook_map_is_on())
        event_map(result, length, prot, flags, frame);
    return result;
}

HOOK void *mmap(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
    return hook_map(at, length, prot, flags, fd, offset, HOOK_FRAME);
}

HOOK void *mmap64(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
    return hook_map(at, length, prot, flags, fd, offset, HOOK_FRAME);
}

/* Told before the call, as every release; a call that fails is taken back. */
HOOK int munmap(void *at, size_t length)
{
    if (HOOK_RARE(real.munmap == NULL) && !life_begin())
        return sys_failed(sys_munmap(at, length)) ? -1 : 0;
    bool is_told = hook_map_is_on() && length != 0 && ((uintptr_t)at & 4095) == 0;
    if (is_told)
        event_unmap(at, length, HOOK_FRAME);
    int result = real.munmap(at, length);
    if (result != 0 && is_told) {
        int saved = errno;
        event_map(at, length, 0, 0, HOOK_FRAME);
        errno = saved;
    }
    return result;
}

/* The same: what it leaves may be another thread's before we are back. */
HOOK void *mremap(void *at, size_t old_length, size_t length, int flags, ...)
{
    void *wanted = NULL;
    if ((flags & MREMAP_FIXED) != 0) {
        va_list list;
        va_start(list, flags);
        wanted = va_arg(list, void *);
        va_end(list);
    }
    if (HOOK_RARE(real.mremap == NULL) && !life_begin()) {
        long result = SYS_CALL(SYS_mremap, at, old_length, length, flags, wanted, 0);
        return sys_failed(result) ? MAP_FAILED : (void *)result;
    }
    bool is_on = hook_map_is_on(), is_told = is_on && old_length != 0 && ((uintptr_t)at & 4095) == 0;
    if (is_told)
        event_unmap(at, old_length, HOOK_FRAME);
    void *result = real.mremap(at, old_length, length, flags, wanted);
    if (result != MAP_FAILED && is_on)
        event_map(result, length, 0, flags, HOOK_FRAME);
    else if (is_told) {
        int saved = errno;
        event_map(at, old_length, 0, 0, HOOK_FRAME);
        errno = saved;
    }
    return result;
}

HOOK int brk(void *end)
{
    const struct real *call = life_real();
    if (call == NULL)
        return -1;
    void *old = call->sbrk(0);
    int result = call->brk(end);
    if (result == 0 && hook_map_is_on())
        event_brk(old, end, HOOK_FRAME);
    return result;
}

HOOK void *sbrk(intptr_t increment)
{
    const struct real *call = life_real();
    if (call == NULL)
        return (void *)-1;
    void *old = call->sbrk(increment);
    if (old != (void *)-1 && increment != 0 && hook_map_is_on())
        event_brk(old, (char *)old + increment, HOOK_FRAME);
    return old;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libmover: an mremap below the probe's, which lets somebody act between the kernel's
 * answer and the return of the call: what else may happen to a place that is free again.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void (*mover_then)(void *old); /* called when a mapping has moved; NULL = nobody */

void *mremap(void *at, size_t old_length, size_t length, int flags, ...)
{
    void *wanted = NULL;
    if ((flags & MREMAP_FIXED) != 0) {
        va_list list;
        va_start(list, flags);
        wanted = va_arg(list, void *);
        va_end(list);
    }
    void *result = (void *)syscall(SYS_mremap, at, old_length, length, flags, wanted);
    if (result != MAP_FAILED && result != at && mover_then != NULL)
        mover_then(at);
    return result;
}

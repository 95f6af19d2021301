/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * liblistener: an allocator that is libc's and writes down every call, to be the
 * witness of a replay.  LISTENER_LOG names the file: text, a line a call, in an
 * order in which a block is made before it is released.
 *
 *     PID TID VERB SIZE ALIGN ADDRESS OLD
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t align, size_t size);
extern void __libc_free(void *block);

void listener_note(const char *verb, size_t size, size_t align, const void *block, const void *old);

/* Appending is one step of the kernel, so lines keep the order of the calls. */
void listener_note(const char *verb, size_t size, size_t align, const void *block, const void *old)
{
    static int log = -2;
    char line[160];
    int error = errno;
    if (log == -2) {
        const char *path = getenv("LISTENER_LOG");
        log = path == NULL ? -1 : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    }
    int length = snprintf(line, sizeof line, "%d %ld %s %zu %zu %p %p\n", (int)getpid(), syscall(SYS_gettid),
                          verb, size, align, block, old);
    if (log >= 0 && write(log, line, (size_t)length) != length)
        abort();
    errno = error;
}

void *malloc(size_t size)
{
    void *block = __libc_malloc(size);
    listener_note("malloc", size, 0, block, NULL);
    return block;
}

void *calloc(size_t count, size_t size)
{
    void *block = __libc_calloc(count, size);
    listener_note("calloc", count * size, 0, block, NULL);
    return block;
}

void *realloc(void *old, size_t size)
{
    listener_note("release", 0, 0, old, NULL);
    void *block = __libc_realloc(old, size);
    listener_note("realloc", size, 0, block, old);
    return block;
}

int posix_memalign(void **block, size_t align, size_t size)
{
    *block = __libc_memalign(align, size);
    listener_note("aligned", size, align, *block, NULL);
    return *block == NULL ? ENOMEM : 0;
}

void free(void *block)
{
    if (block != NULL)
        listener_note("free", 0, 0, block, NULL);
    __libc_free(block);
}

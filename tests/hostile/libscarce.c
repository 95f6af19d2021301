/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libscarce: memory that runs out on purpose.  Preloaded into heapwake, in the place of
 * libc's malloc, it refuses one of the blocks that heapwake asks for, or all from
 * there on.  Other programs get what they ask for.
 *
 *   SCARCE_NTH=7       refuse the seventh
 *   SCARCE_FOR_EVER=1  and all that follow
 *   SCARCE_FROM=own    count calls from heapwake's own code alone; else also
 *                      those of its libraries
 *   SCARCE_COUNT=FILE  at exit, add the number of calls counted to FILE, a line each process
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

static atomic_bool armed;
static bool only_own, for_ever;
static uintptr_t own_start, own_end;
static unsigned long nth;
static atomic_ulong counted;

static int note_own(struct dl_phdr_info *module, size_t size, void *unused)
{
    (void)size, (void)unused;
    own_start = UINTPTR_MAX;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &module->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD)
            continue;
        uintptr_t start = module->dlpi_addr + segment->p_vaddr;
        own_start = start < own_start ? start : own_start;
        own_end = start + segment->p_memsz > own_end ? start + segment->p_memsz : own_end;
    }
    return 1; /* the first is the program */
}

__attribute__((constructor)) static void arm(void)
{
    char name[4096];
    ssize_t length = readlink("/proc/self/exe", name, sizeof name - 1);
    name[length < 0 ? 0 : length] = '\0';
    const char *slash = strrchr(name, '/'), *number = getenv("SCARCE_NTH"), *from = getenv("SCARCE_FROM");
    if (slash == NULL || strcmp(slash, "/heapwake") != 0)
        return;
    nth = number == NULL ? 0 : strtoul(number, NULL, 10);
    for_ever = getenv("SCARCE_FOR_EVER") != NULL;
    only_own = from != NULL && strcmp(from, "own") == 0;
    dl_iterate_phdr(note_own, NULL);
    armed = true;
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("SCARCE_COUNT");
    char line[32];
    if (!armed || path == NULL)
        return;
    armed = false;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    int length = snprintf(line, sizeof line, "%lu\n", atomic_load(&counted));
    if (fd < 0 || write(fd, line, (size_t)length) != length)
        _exit(99);
    close(fd);
}

/* Whether the call from this place gets nothing. */
static bool is_refused(const void *caller)
{
    uintptr_t place = (uintptr_t)caller;
    if (!armed || (only_own && (place < own_start || place >= own_end)))
        return false;
    unsigned long number = ++counted;
    if (nth == 0 || number < nth || (number > nth && !for_ever))
        return false;
    errno = ENOMEM;
    return true;
}

#define REFUSED() is_refused(__builtin_return_address(0))

void *malloc(size_t size)
{
    return REFUSED() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return REFUSED() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return REFUSED() ? NULL : __libc_realloc(block, size);
}

void *reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return REFUSED() ? NULL : __libc_realloc(block, bytes);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return REFUSED() ? NULL : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
    return REFUSED() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *made = REFUSED() ? NULL : __libc_memalign(alignment, size);
    if (made == NULL)
        return ENOMEM;
    *block = made;
    return 0;
}

void free(void *block)
{
    __libc_free(block);
}

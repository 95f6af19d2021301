/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * sanitizer: see sanitizer.h.
 *
 * A program that was compiled for a sanitizer calls the function that begins it, whose
 * name stands in a string table of the file: of the dynamic symbols, or, where the
 * runtime is linked in, of all symbols.  Sections tell where those are.  Nothing in
 * the file is trusted; no more than so many bytes of it are read.
 */
#include "collect/sanitizer.h"

#include "tool/file.h"
#include "tool/memory.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    SANITIZER_WINDOW = 1 << 16,
    SANITIZER_OVERLAP = 32, /* longer than any name */
};

#define SANITIZER_BYTES_MAX (UINT64_C(256) << 20)

/* The name with the NUL behind it, but for libraries, whose version follows. */
#define WHOLE(name) name, sizeof(name)
#define BEGIN(name) name, sizeof(name) - 1

static const struct {
    const char *sanitizer;
    const char *name;
    size_t length;
} sanitizer_names[] = {
    {"AddressSanitizer", WHOLE("__asan_init")},    {"HWAddressSanitizer", WHOLE("__hwasan_init")},
    {"ThreadSanitizer", WHOLE("__tsan_init")},     {"MemorySanitizer", WHOLE("__msan_init")},
    {"LeakSanitizer", WHOLE("__lsan_init")},       {"AddressSanitizer", BEGIN("libasan.so")},
    {"HWAddressSanitizer", BEGIN("libhwasan.so")}, {"ThreadSanitizer", BEGIN("libtsan.so")},
    {"LeakSanitizer", BEGIN("liblsan.so")},
};

enum { SANITIZER_NAMES = sizeof sanitizer_names / sizeof *sanitizer_names };

static const char *sanitizer_search(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < SANITIZER_NAMES; i++) {
        if (memmem(bytes, length, sanitizer_names[i].name, sanitizer_names[i].length) != NULL)
            return sanitizer_names[i].sanitizer;
    }
    return NULL;
}

/* One string table, window by window.  *left: bytes that may still be read. */
static const char *sanitizer_scan(int fd, uint64_t offset, uint64_t size, uint8_t *window, uint64_t *left)
{
    const char *found = NULL;
    bool is_over = size == 0;
    while (found == NULL && !is_over && *left >= SANITIZER_WINDOW) {
        size_t want = size < SANITIZER_WINDOW ? (size_t)size : SANITIZER_WINDOW, got;
        if (file_read_at(fd, window, want, offset, &got) != 0)
            return NULL;
        *left -= got;
        found = sanitizer_search(window, got);
        is_over = got < want || got == size;
        offset += got - (is_over ? 0 : SANITIZER_OVERLAP);
        size -= got - (is_over ? 0 : SANITIZER_OVERLAP);
    }
    return found;
}

static bool sanitizer_read_head(int fd, Elf64_Ehdr *head)
{
    size_t got;
    return file_read_at(fd, head, sizeof *head, 0, &got) == 0 && got == sizeof *head &&
           memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == ELFCLASS64 &&
           head->e_shentsize == sizeof(Elf64_Shdr) && head->e_shoff <= INT64_MAX / 2;
}

const char *sanitizer_find(int fd)
{
    Elf64_Ehdr head;
    const char *found = NULL;
    uint64_t left = SANITIZER_BYTES_MAX;
    uint8_t *window = sanitizer_read_head(fd, &head) ? memory_new(SANITIZER_WINDOW) : NULL;
    for (uint64_t i = 0; window != NULL && found == NULL && i < head.e_shnum; i++) {
        Elf64_Shdr section;
        size_t got;
        if (file_read_at(fd, &section, sizeof section, head.e_shoff + i * sizeof section, &got) != 0 ||
            got != sizeof section)
            break;
        if (section.sh_type == SHT_STRTAB && section.sh_offset <= INT64_MAX / 2 &&
            section.sh_size <= INT64_MAX / 2)
            found = sanitizer_scan(fd, section.sh_offset, section.sh_size, window, &left);
    }
    free(window);
    return found;
}

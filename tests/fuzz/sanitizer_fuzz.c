/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * sanitizer_fuzz: programs from arbitrary bytes are looked through for a sanitizer (libFuzzer).
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc tests/fuzz/sanitizer_fuzz.c \
 *         src/collect/sanitizer.c src/tool/file.c src/tool/err.c
 *
 * Start it with a folder of small programs. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/sanitizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("sanitizer_fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    const char *found = sanitizer_find(fd);
    if (found != NULL && strstr(found, "Sanitizer") == NULL)
        abort();
    close(fd);
    return 0;
}

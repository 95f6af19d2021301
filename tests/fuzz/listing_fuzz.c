/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * listing_fuzz: lists of blocks from arbitrary bytes (libFuzzer).
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc tests/fuzz/listing_fuzz.c \
 *         $(scripts/sources src/engine src/analysis src/store src/tool) -lzstd
 *
 * Whatever is refused is refused with a sentence that names the line; what is taken comes back in order. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/block_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_order(const struct block_list *l, uint32_t process)
{
    const uint64_t *at = block_list_blocks(l, process);
    for (; *at != UINT64_MAX; at++) {
        if (at[0] > at[1])
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[40];
    struct block_list *l;
    struct err err;
    if (fd < 0)
        fd = memfd_create("list", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    err_init(&err);
    int code = block_list_read(&l, path, &err);
    if ((code == 0) != (l != NULL) || (code == 0) != (err.text[0] == '\0'))
        abort();
    if (code != 0) {
        if (strncmp(err.text, "Line ", 5) != 0)
            abort();
        return 0;
    }
    for (uint32_t process = 0; process < 4; process++)
        check_order(l, process);
    (void)block_list_check(l, 2, &err);
    block_list_free(l);
    return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * perf_map_fuzz: names of code that was made at run time, from arbitrary bytes (libFuzzer).
 * Every entry that was taken is found at its first and its last address, by its own name or
 * by that of a later line.
 */
#include "symbol/perf_map.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ASKED = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct perf_map map;
    struct err err;
    int fd = memfd_create("perf_map_fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    err_init(&err);
    if (perf_map_open(&map, path, &err) == 0) {
        for (size_t i = 0; i < map.entries.count && i < ASKED; i++) {
            const struct perf_map_entry *e = &map.entries.data[i];
            if (e->end <= e->start || perf_map_find(&map, e->start) == NULL ||
                perf_map_find(&map, e->end - 1) == NULL)
                abort();
        }
        (void)perf_map_find(&map, UINT64_MAX);
        perf_map_close(&map);
    } else if (err.text[0] == '\0') {
        abort();
    }
    close(fd);
    return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * target_fuzz: programs from arbitrary bytes are looked at as before an exec (libFuzzer):
 * can the probe be loaded into them? Whatever they say, the answer is the same twice, and
 * no descriptor is left open.
 */
#include "probe/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The descriptor that would be given out next. */
static int next_descriptor(int fd)
{
    int next = dup(fd);
    if (next < 0)
        abort();
    close(next);
    return next;
}

/* Is any open that was not before? A sanitizer's own thread opens files for moments, so once is not enough. */
static bool has_left_open(int fd, int next)
{
    for (int i = 0; i < 1000; i++) {
        if (next_descriptor(fd) <= next)
            return false;
        usleep(1000);
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char room[TARGET_PATH_MAX];
    int fd = memfd_create("target_fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    const char *path = target_of_descriptor(fd, room);
    int next = next_descriptor(fd);
    bool is_foreign = target_is_foreign(path);
    if (is_foreign != target_is_foreign(path) || has_left_open(fd, next))
        abort();
    close(fd);
    return 0;
}

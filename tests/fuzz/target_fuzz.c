/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * target_fuzz: programs from arbitrary bytes are looked at as before an exec (libFuzzer):
 * can the probe be loaded into them? Whatever they say, the answer is the same twice, and
 * no descriptor is left open.
 */
#include "descriptors.h"

#include "probe/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char room[TARGET_PATH_MAX];
    int fd = memfd_create("target_fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    const char *path = target_of_descriptor(fd, room);
    int next = descriptors_next(fd);
    bool is_foreign = target_is_foreign(path);
    if (is_foreign != target_is_foreign(path) || descriptors_are_left(fd, next))
        abort();
    close(fd);
    return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * package_fuzz: names of addresses whose debugging information is in an arbitrary
 * package (.dwp) (libFuzzer; how to build it: symbol_fuzz.c).
 *
 * Four bytes are the length of a program (little-endian), which follows; the rest is the package. */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/symbolizer.h"

enum { FUZZ_ADDRESSES = 64 };

static char folder[256], file[300];

static void clean(void)
{
    unlink(file);
    rmdir(folder);
}

static void prepare(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.200s/package_fuzz.XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(folder) == NULL)
        abort();
    snprintf(file, sizeof file, "%s/fuzz.dwp", folder);
    atexit(clean);
}

static void ask(struct binary *b, uint64_t address)
{
    const struct binary_frame *frames;
    size_t count = binary_resolve(b, address, true, &frames);
    if (count > BINARY_FRAMES_MAX)
        abort();
    for (size_t i = 0; i < count; i++)
        if (strlen(frames[i].function) > (1 << 20) || strlen(frames[i].linkage) > (1 << 20) ||
            strlen(frames[i].file) > (1 << 20) || frames[i].inlined != (i + 1 < count))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t length;
    struct binary *b;
    if (folder[0] == '\0')
        prepare();
    if (size < sizeof length)
        return 0;
    memcpy(&length, data, sizeof length);
    data += sizeof length;
    size -= sizeof length;
    if (length > size)
        return 0;
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data + length, size - length) != (ssize_t)(size - length) || close(fd) != 0)
        abort();
    struct symbolizer *s =
        symbolizer_new(&(struct symbolizer_options){.sysroot = "/nowhere", .debug_path = folder});
    if (symbolizer_open_memory(s, &b, "fuzz", data, length, NULL) == 0) {
        for (uint64_t i = 0; i < FUZZ_ADDRESSES; i++)
            ask(b, 0x1000 + i * 7);
        if (strlen(binary_get_remark(b)) > (1 << 16))
            abort();
    }
    symbolizer_free(s);
    return 0;
}

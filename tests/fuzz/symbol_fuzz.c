/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * symbol_fuzz: names of addresses from arbitrary ELF files, and modules from
 * arbitrary maps (libFuzzer).
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc tests/fuzz/symbol_fuzz.c \
 *         src/symbol/[a-z]*.c src/tool/[a-z]*.c -ldw -lelf -llzma -liberty   (without the _test.c files)
 *
 * Start it with a folder of small programs: stripped, with debugging
 * information, compressed, with .gnu_debugdata.
 *
 * The first two bytes choose how many addresses are asked for and where they
 * begin; the rest is the file. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/demangler.h"
#include "symbol/procmaps.h"
#include "symbol/symbolizer.h"

enum {
    FUZZ_ADDRESSES = 64,
    FUZZ_NAME = 4096,
};

static void ask_address(struct binary *b, uint64_t address, bool exact)
{
    const struct binary_frame *frames;
    size_t count = binary_resolve(b, address, exact, &frames);
    if (count > BINARY_FRAMES_MAX)
        abort();
    for (size_t i = 0; i < count; i++) {
        /* All texts are there, end, and are not too long. */
        if (strlen(frames[i].function) > (1 << 20) || strlen(frames[i].linkage) > (1 << 20) ||
            strlen(frames[i].file) > (1 << 20) || frames[i].inlined != (i + 1 < count))
            abort();
    }
}

static void ask_binary(const uint8_t *data, size_t size, unsigned addresses, uint64_t start)
{
    struct symbolizer *s = symbolizer_new(&(struct symbolizer_options){.sysroot = "/nowhere"});
    struct binary *b;
    uint64_t address;
    if (symbolizer_open_memory(s, &b, "fuzz", data, size, NULL) == 0) {
        for (unsigned i = 0; i < addresses; i++)
            ask_address(b, start + i * UINT64_C(37), (i & 1) != 0);
        ask_address(b, 0, false);
        ask_address(b, UINT64_MAX, true);
        (void)binary_get_remark(b);
        (void)binary_find_address(b, start, &address);
    }
    symbolizer_free(s);
}

static void ask_names(const uint8_t *data, size_t size)
{
    char name[FUZZ_NAME + 1];
    struct strbuf text = {0};
    struct procmaps maps;
    size_t length = size < FUZZ_NAME ? size : FUZZ_NAME;
    memcpy(name, data, length);
    name[length] = '\0';
    if (demangle(&text, name) && text.length > DEMANGLER_OUTPUT_MAX)
        abort();
    strbuf_release(&text);
    procmaps_init(&maps);
    (void)procmaps_parse(&maps, (const char *)data, size, "fuzz", NULL);
    for (size_t i = 0; i < maps.modules.count; i++)
        if (maps.modules.data[i].start > maps.modules.data[i].end)
            abort();
    procmaps_release(&maps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    unsigned addresses = data[0] % FUZZ_ADDRESSES;
    uint64_t start = 0x1000 + (uint64_t)data[1] * 16;
    if (size > 6 && memcmp(data + 2, "\177ELF", 4) == 0)
        ask_binary(data + 2, size - 2, addresses, start);
    else
        ask_names(data + 2, size - 2);
    return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * minidebug: see minidebug.h.
 *
 * xz reaches ratios of thousands, so neither what the decoder may take nor what
 * may come out is left to the file.
 */
#include "symbol/minidebug.h"

#include "tool/memory.h"

#include <lzma.h>
#include <stdlib.h>

static const uint64_t MINIDEBUG_DECODER_MAX = UINT64_C(128) << 20;
enum {
    MINIDEBUG_MAX = 256 << 20,
    MINIDEBUG_FIRST = 1 << 20,
};

/* One attempt with room for `room` bytes. */
static lzma_ret minidebug_unpack(uint8_t *out, size_t room, size_t *length, const uint8_t *bytes,
                                 size_t packed)
{
    uint64_t memory = MINIDEBUG_DECODER_MAX;
    size_t at = 0;
    *length = 0;
    return lzma_stream_buffer_decode(&memory, 0, NULL, bytes, &at, packed, out, length, room);
}

bool minidebug_open(struct elffile *out, const struct elffile *program)
{
    size_t packed, length = 0;
    Elf_Scn *section = elffile_find_section(program, ".gnu_debugdata", NULL);
    const uint8_t *bytes = section != NULL ? elffile_get_bytes(section, &packed) : NULL;
    if (bytes == NULL)
        return false;
    for (size_t room = MINIDEBUG_FIRST; room <= MINIDEBUG_MAX; room *= 4) {
        uint8_t *unpacked = memory_new(room);
        if (unpacked == NULL)
            return false;
        lzma_ret code = minidebug_unpack(unpacked, room, &length, bytes, packed);
        if (code == LZMA_OK)
            return elffile_open_memory(out, unpacked, length, program->path, NULL) == 0;
        free(unpacked);
        if (code != LZMA_BUF_ERROR)
            return false;
    }
    return false;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * unhooked: see unhooked.h.
 */
#include "collect/unhooked.h"

#include "wire/segment.h"

#include <string.h>

static const char *const unhooked_notes[SEGMENT_UNHOOKED_COUNT] = {
    "The program uses heaps of mimalloc by handle (mi_heap_*): their blocks are not recorded.",
    "The program resets or destroys arenas of jemalloc: the blocks that this releases look as if they were "
    "not "
    "released.",
    "The program uses jemalloc's experimental.batch_alloc: blocks from it are not recorded.",
    "The system does not let the probe change the tables of the program's allocator: its own functions "
    "(mallocx, "
    "tc_malloc, mi_malloc and their kin) are not recorded.",
};

void unhooked_tell(struct wake_writer *w, uint32_t what)
{
    for (unsigned i = 0; i < SEGMENT_UNHOOKED_COUNT; i++)
        if ((what >> i & 1) != 0)
            wake_writer_add_note(w, unhooked_notes[i], strlen(unhooked_notes[i]));
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * section_blocks: leaked blocks one by one, each with its whole stack, in the layout of memtraq:
 *
 *     Leaked: 7.9 KiB in 6 blocks
 *     1: block of 5000 bytes not freed
 *             address  : 0x7f3c08000b90
 *             timestamp: 1297835547165449 (12.3 ms after the start)
 *             thread   : stocker (4711)
 *             callstack:
 *                     0x1a2b: leak_screw  shelves.cc:41
 *
 * The timestamp is in microseconds since 1970; of a recording that does not say when it began, since its start.  A
 * sample has a line more: what it stands for.  JSON, under the name of the measure:
 *
 *     {total_bytes, total_blocks, block_count, blocks: [{size, address, time_ns, pid, tid, thread, blocks, bytes,
 *      frames}], suppressed}
 */
#ifndef HW_PRESENT_SECTION_BLOCKS_H
#define HW_PRESENT_SECTION_BLOCKS_H

#include "analysis/suppress.h"
#include "analysis/trace.h"
#include "engine/follow.h"
#include "present/json.h"
#include "present/page.h"
#include "tool/vec.h"

#include <stddef.h>
#include <stdint.h>

struct section_block {
    struct follow_block b;
    uint32_t process; /* in the traces */
    uint32_t trace;
};

struct section_blocks {
    const struct traces *traces;
    struct section_block *list; /* those that are shown, in their order */
    size_t count;
    uint64_t found_count, found_blocks,
        found_bytes; /* of all that could be listed, and what they stand for */
    uint64_t shown_blocks, shown_bytes;
    uint64_t total_blocks, total_bytes; /* leaked, those included of which nothing is known but that */
    const uint64_t *wall_ns;            /* of each process: 0 of its clock; 0 = not known */
    const struct suppress *suppress;
};

void section_blocks_text(struct page *p, const struct section_blocks *s);
void section_blocks_json(struct json *j, const struct section_blocks *s);

#endif

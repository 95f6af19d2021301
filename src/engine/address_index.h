/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * address_index: where the blocks of a ledger (engine/entries.h) lie, in 4 bytes an entry.
 *
 *     31            24 23                                  0
 *     | its region    | how far into it, in units of 8 bytes |
 *
 * Blocks lie in few regions of 128 MiB each.  These are numbered as they are met, and by their addresses once all are
 * known: from then on codes are ordered as addresses are, and a range of the ones is a range of the others.
 */
#ifndef HW_ENGINE_ADDRESS_INDEX_H
#define HW_ENGINE_ADDRESS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/query.h"
#include "tool/vec.h"

struct address_index {
    uint32_t *codes;       /* by entry; NULL: nobody asks */
    VEC(uint64_t) regions; /* which they are, by number */
    uint32_t latest;       /* number */
    bool is_odd;           /* there are more regions than numbers, or an address is no multiple of 8 */
};

enum { ADDRESS_INDEX_ENTRY_BYTES = 4 };

/* Room for so many entries.  False: no memory. */
bool address_index_init(struct address_index *a, size_t entries);
/* Accepts a zeroed one. */
void address_index_release(struct address_index *a);
/* What to write into `codes`.  Where there is none it is odd from then on. */
uint32_t address_index_encode(struct address_index *a, uint64_t address);
/* So many entries there are. */
void address_index_close(struct address_index *a, size_t count);
/* Codes of the addresses in a range.  False: no block lies there. */
bool address_index_find(const struct address_index *a, const struct query_range *addresses,
                        struct query_range *codes);

#endif

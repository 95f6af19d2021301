/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * seals: what of a spool its checksums (wire/seal.h) vouch for.
 */
#ifndef HW_COLLECT_SEALS_H
#define HW_COLLECT_SEALS_H

#include "collect/view.h"
#include "store/writer.h"

#include <stdbool.h>
#include <stdint.h>

struct seals {
    bool is_closed;       /* the program has sealed the whole, and nothing came after that */
    bool is_head_damaged; /* what is not in chunks is not what was sealed */
    uint32_t chunks;      /* that lanes lead to */
    uint32_t damaged;     /* of these, and of others with records: not what was sealed, or of no lane */
    uint32_t open;        /* with records that are not sealed, or in which there may have been some */
    uint64_t unchecked;   /* allocations and releases among these */
};

/* Looks at all chunks. False: no memory. */
bool seals_read(struct seals *s, const struct view *view);
/* Says in the recording what is damaged, and what is unchecked. */
void seals_note(const struct seals *s, struct wake_writer *writer);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * addressed: blocks of a source that names them by their addresses, in the
 * order in which things happened.
 */
#ifndef HW_IMPORT_ADDRESSED_H
#define HW_IMPORT_ADDRESSED_H

#include <stdint.h>

#include "import/recast.h"
#include "tool/map.h"

struct addressed {
    struct recast *recast;
    struct map live; /* address -> number of the allocation */
    bool failed;     /* no memory */
};

void addressed_init(struct addressed *a, struct recast *r);
void addressed_release(struct addressed *a);

/* A block.  One that is live at its address was released without the source noticing.
 * previous: as wake_stream_alloc has it. */
void addressed_alloc(struct addressed *a, unsigned kind, uint32_t stack, uint64_t address, uint64_t size,
                     uint64_t previous);
/* A release.  The number + 1 of the allocation; 0: of a block never seen. */
uint64_t addressed_free(struct addressed *a, unsigned how, uint64_t address);

#endif

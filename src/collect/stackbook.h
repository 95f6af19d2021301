/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stackbook: the stacks of one process, each once.
 *
 * The probe's table of stacks is a cache: it may define one stack under two
 * ids.  Here a stack is its content (frames with their modules, cut,
 * omitted), numbered densely from 1 in the order of first sight; ids of the
 * probe are mapped to these numbers.  One thread at a time.
 */
#ifndef HW_COLLECT_STACKBOOK_H
#define HW_COLLECT_STACKBOOK_H

#include "collect/modmap.h"
#include "store/writer.h"
#include "tool/arena.h"
#include "tool/map.h"
#include "tool/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    STACKBOOK_PAGE = 4096, /* ids per page of the id table */
    STACKBOOK_NEAR = 1024, /* entries of the cache by address */
};

struct stackbook_stack {
    uint64_t hash;
    uint32_t *frames; /* numbers of frames, innermost first */
    uint32_t count, omitted, cut;
    uint32_t next; /* stack with the same hash, 0 = none */
};

struct stackbook_near {
    uint64_t address, generation;
    uint32_t frame; /* + 1 */
};

struct stackbook {
    VEC(struct stackbook_stack) stacks; /* number 1 is stacks.data[0] */
    VEC(struct wake_frame) frames;
    VEC(struct wake_frame) scratch;
    VEC(uint32_t) numbers;
    struct map by_hash;  /* hash -> newest stack with it */
    struct map by_frame; /* address, module -> frame */
    struct arena arena;
    VEC(uint32_t *) ids; /* pages of STACKBOOK_PAGE numbers, NULL where none was defined */
    struct stackbook_near near[STACKBOOK_NEAR];
    uint64_t cut_stacks;
};

void stackbook_init(struct stackbook *b);
void stackbook_release(struct stackbook *b);

/* One stack as the probe wrote it. */
struct stackbook_raw {
    uint32_t id;
    const uint64_t *addresses;
    uint32_t count, omitted, cut;
    uint64_t generation;
};

/* Gives the number of the stack; *is_new: it was not there before, and the
 * frames to be written are in b->scratch.  0: no memory. */
uint32_t stackbook_add(struct stackbook *b, struct modmap *modules, const struct stackbook_raw *raw,
                       bool *is_new);

/* The number of a stack by the probe's id; 0: never defined. */
static inline uint32_t stackbook_get(const struct stackbook *b, uint32_t id)
{
    const uint32_t *page = id / STACKBOOK_PAGE < b->ids.count ? b->ids.data[id / STACKBOOK_PAGE] : NULL;
    return page == NULL ? 0 : page[id % STACKBOOK_PAGE];
}

#endif

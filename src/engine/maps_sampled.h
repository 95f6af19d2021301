/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * maps_sampled: the private part of maps that goes through the samples of use, beside the events.
 */
#ifndef HW_ENGINE_MAPS_SAMPLED_H
#define HW_ENGINE_MAPS_SAMPLED_H

#include "engine/maps.h"
#include "engine/regions.h"
#include "engine/watch.h"

struct maps_sampled {
    struct maps *maps;
    struct watch *watch;
    const struct wake_process *process;
    uint32_t number;             /* of the process, over all recordings */
    size_t next;                 /* sample */
    size_t first_other;          /* of this process */
    struct regions ranges;       /* as samples have told so far; value: number in process->usage */
    VEC(struct maps_usage) sums; /* scratch: by mapping of the process */
    VEC(uint8_t) seen;           /* scratch: by mapping, enum maps_sampled_seen */
    size_t first_mapping;        /* of the process */
};

void maps_sampled_init(struct maps_sampled *s, struct maps *maps, struct watch *watch,
                       const struct wake_process *process, uint32_t number);
void maps_sampled_release(struct maps_sampled *s);
/* Takes the samples from before a time.  live: what is mapped; value: number of the mapping.  False: no memory.
 * Interrupted, it leaves the rest. */
bool maps_sampled_take(struct maps_sampled *s, const struct regions *live, uint64_t before_ns);

#endif

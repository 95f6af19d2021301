/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * in_mapping: see in_mapping.h.
 */
#include "engine/in_mapping.h"

#include "engine/maps.h"

struct in_mapping {
    struct filter *filter;
    struct bitset wanted; /* numbers of mappings */
};

static bool in_mapping_block(void *of, uint32_t mapping, uint64_t block)
{
    struct in_mapping *s = of;
    return !bitset_has(&s->wanted, mapping) || bitset_set(&s->filter->inside, block);
}

int in_mapping_run(struct filter *f, struct watch *watch, struct wake_reader *reader, uint32_t process,
                   struct err *err)
{
    const struct query_numbers *asked = &f->query->filter.mappings;
    struct in_mapping s = {.filter = f};
    struct maps maps;
    bool fine = true;
    if ((f->checks & CHECK_INSIDE) == 0)
        return 0;
    bitset_init(&s.wanted);
    maps_init(&maps);
    for (size_t i = 0; i < asked->count && fine; i++)
        fine = bitset_set(&s.wanted, asked->data[i]);
    watch->total += f->process->events;
    int code =
        !fine ? err_no_memory(err) : maps_play(&maps, watch, reader, process, 0, in_mapping_block, &s, err);
    maps_release(&maps);
    bitset_release(&s.wanted);
    return code;
}

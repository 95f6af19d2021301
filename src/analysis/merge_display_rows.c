/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * merge_display_rows: see merge_display_rows.h.
 *
 *     looks[trace]    equal for traces that look the same from that frame outwards
 *
 * is made of looks[parent] and of what a reader sees of the frame, callers first: a parent has a lower number.  Callers in
 * libraries are not shown: a trace that begins with one looks as its parent does.
 */
#include "analysis/merge_display_rows.h"

#include "tool/map.h"
#include "tool/memory.h"

#include <stdlib.h>

/* NULL: no memory. */
static uint32_t *merge_display_rows_see_all(const struct traces *c, bool brief)
{
    uint32_t *looks = memory_new_zeroed(c->traces.count + 1, sizeof *looks);
    bool *named = memory_new_zeroed(c->traces.count + 1, sizeof *named); /* it, or a caller, has a name */
    struct map known;
    map_init(&known);
    if (named == NULL) {
        free(looks);
        looks = NULL;
    }
    for (uint32_t i = 1; looks != NULL && i < c->traces.count; i++) {
        unsigned role = traces_frame(c, i)->role;
        bool has_name = traces_frame(c, i)->function[0] != '\0';
        looks[i] = looks[traces_parent(c, i)];
        named[i] = named[traces_parent(c, i)] || (role == FRAME_OWN && has_name);
        if ((role != FRAME_OWN && role != FRAME_GAP) || (brief && !has_name && named[i]))
            continue;
        uint64_t look = (uint64_t)looks[i] << 32 | traces_sight(c, i);
        const uint64_t *first = map_find(&known, look);
        looks[i] = first == NULL ? i : (uint32_t)*first;
        if (first == NULL && !map_set(&known, look, i)) {
            free(looks);
            looks = NULL;
        }
    }
    map_release(&known);
    free(named);
    return looks;
}

/* The same of a whole site.  One that has only libraries begins with a frame that is not in the looks, and is told from all
 * others by the highest bit. */
static uint64_t merge_display_rows_see_site(const struct traces *c, const uint32_t *looks, uint32_t trace,
                                            bool brief)
{
    uint32_t first = trace == 0 ? 0 : traces_find_own(c, trace);
    bool is_skipped = brief && first != 0 && traces_frame(c, first)->function[0] == '\0';
    if (first == 0 || (traces_frame(c, first)->role == FRAME_OWN && !is_skipped))
        return looks[first];
    return UINT64_C(1) << 63 | (uint64_t)looks[first] << 32 | traces_sight(c, first);
}

static bool merge_display_rows_add(struct sites *folded, struct map *slots, uint64_t look,
                                   const struct site *one)
{
    const uint64_t *known = map_find(slots, look);
    size_t at = known == NULL ? folded->list.count : (size_t)*known;
    if (known == NULL &&
        (!map_set(slots, look, at) || !vec_push(&folded->list, (struct site){.trace = one->trace})))
        return false;
    measure_add(&folded->list.data[at].m, &one->m);
    folded->list.data[at].rows += one->rows;
    return true;
}

int merge_display_rows_sites(struct sites *folded, struct sites *from, const struct traces *c,
                             enum measure measure, bool brief, struct err *err)
{
    uint32_t *looks = merge_display_rows_see_all(c, brief);
    struct map slots; /* look -> index in the list */
    bool fine = looks != NULL;
    map_init(&slots);
    sites_sort(from, c, measure);
    for (size_t i = 0; i < from->list.count && fine; i++) {
        const struct site *one = &from->list.data[i];
        fine = merge_display_rows_add(folded, &slots,
                                      merge_display_rows_see_site(c, looks, one->trace, brief), one);
    }
    folded->total = from->total;
    sites_sort(folded, c, measure);
    map_release(&slots);
    free(looks);
    return fine ? 0 : err_no_memory(err);
}

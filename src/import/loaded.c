/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * loaded: see loaded.h.  Ranges are sorted when somebody asks after a change.
 */
#include "import/loaded.h"

void loaded_release(struct loaded *l)
{
    vec_release(&l->ranges);
}

void loaded_clear(struct loaded *l)
{
    l->ranges.count = 0;
}

bool loaded_add(struct loaded *l, uint64_t start, uint64_t end, uint32_t module)
{
    l->is_sorted = false;
    return end <= start ||
           vec_push(&l->ranges, ((struct loaded_range){start, end, module, (uint32_t)l->ranges.count}));
}

static int loaded_compare(const void *a, const void *b)
{
    const struct loaded_range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

uint32_t loaded_find(struct loaded *l, uint64_t address)
{
    if (l->ranges.count == 0)
        return 0;
    if (!l->is_sorted) {
        qsort(l->ranges.data, l->ranges.count, sizeof *l->ranges.data, loaded_compare);
        l->is_sorted = true;
    }
    size_t low = 0, high = l->ranges.count; /* the last that begins at or before the address */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->ranges.data[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= l->ranges.data[low - 1].end)
        return 0;
    return l->ranges.data[low - 1].module;
}

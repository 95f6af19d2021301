/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * loaded: see loaded.h.  Ranges are kept by their beginnings; of those with the
 * same one the latest is the last.
 */
#include "import/loaded.h"

#include <string.h>

#include "base/sorted.h"

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
    const struct loaded_range range = {start, end, module};
    if (end <= start)
        return true;
    size_t at = sorted_up_to_by(l->ranges.data, l->ranges.count, start, start);
    if (!vec_push(&l->ranges, range))
        return false;
    memmove(&l->ranges.data[at + 1], &l->ranges.data[at], (l->ranges.count - 1 - at) * sizeof range);
    l->ranges.data[at] = range;
    return true;
}

uint32_t loaded_find(const struct loaded *l, uint64_t address)
{
    size_t count = sorted_up_to_by(l->ranges.data, l->ranges.count, address, start);
    if (count == 0 || address >= l->ranges.data[count - 1].end)
        return 0;
    return l->ranges.data[count - 1].module;
}

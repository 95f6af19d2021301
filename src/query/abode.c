/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * abode: see abode.h.
 */
#include "query/abode.h"

#include <stdlib.h>

#include "tool/memory.h"

enum {
    ABODE_UNIT_BITS = 3,
    ABODE_PLACE_BITS = 24, /* of a code */
    ABODE_REGION_BITS = ABODE_UNIT_BITS + ABODE_PLACE_BITS,
    ABODE_REGIONS = 1 << (32 - ABODE_PLACE_BITS),
};

bool abode_init(struct abode *a, size_t entries)
{
    *a = (struct abode){.codes = memory_try_large(entries * sizeof *a->codes)};
    return a->codes != NULL;
}

void abode_release(struct abode *a)
{
    free(a->codes);
    vec_release(&a->regions);
    *a = (struct abode){0};
}

/* The number of a region that is not that of the block before. */
static __attribute__((noinline)) void abode_meet(struct abode *a, uint64_t region)
{
    uint32_t number = 0;
    while (number < a->regions.count && a->regions.data[number] != region)
        number++;
    if (number == a->regions.count && (number == ABODE_REGIONS || !vec_push(&a->regions, region)))
        a->is_odd = true;
    else
        a->latest = number;
}

uint32_t abode_encode(struct abode *a, uint64_t address)
{
    uint64_t region = address >> ABODE_REGION_BITS;
    if (a->regions.count == 0 || a->regions.data[a->latest] != region)
        abode_meet(a, region);
    a->is_odd = a->is_odd || address % (1 << ABODE_UNIT_BITS) != 0;
    return a->latest << ABODE_PLACE_BITS |
           ((uint32_t)(address >> ABODE_UNIT_BITS) & ((1 << ABODE_PLACE_BITS) - 1));
}

static int abode_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void abode_close(struct abode *a, size_t count)
{
    uint64_t met[ABODE_REGIONS];
    uint32_t moves[ABODE_REGIONS]; /* what has to be added to the codes of a number */
    size_t regions = a->regions.count;
    for (size_t i = 0; i < regions; i++)
        met[i] = a->regions.data[i];
    if (regions > 1)
        qsort(a->regions.data, regions, sizeof *a->regions.data, abode_compare);
    for (uint32_t i = 0; i < regions; i++)
        for (uint32_t k = 0; k < regions; k++)
            if (a->regions.data[k] == met[i])
                moves[i] = (k - i) << ABODE_PLACE_BITS;
    for (size_t i = 0; i < count && regions > 1; i++)
        a->codes[i] += moves[a->codes[i] >> ABODE_PLACE_BITS];
}

/* The code of the first place that is not below an address, 1 << 32 where all are. */
static uint64_t abode_find_first(const struct abode *a, uint64_t address)
{
    uint64_t unit = (address >> ABODE_UNIT_BITS) + (address % (1 << ABODE_UNIT_BITS) != 0);
    uint64_t number = 0, region = unit >> ABODE_PLACE_BITS;
    while (number < a->regions.count && a->regions.data[number] < region)
        number++;
    bool is_inside = number < a->regions.count && a->regions.data[number] == region;
    return number << ABODE_PLACE_BITS | (is_inside ? unit & ((1 << ABODE_PLACE_BITS) - 1) : 0);
}

bool abode_find(const struct abode *a, const struct query_range *addresses, struct query_range *codes)
{
    uint64_t all = (uint64_t)a->regions.count << ABODE_PLACE_BITS;
    uint64_t end = addresses->max == UINT64_MAX ? all : abode_find_first(a, addresses->max + 1);
    codes->min = abode_find_first(a, addresses->min);
    codes->max = end - 1;
    return addresses->min <= addresses->max && codes->min < end;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * address_index: see address_index.h.
 */
#include "engine/address_index.h"

#include <stdlib.h>

#include "tool/memory.h"

enum {
    ADDRESS_INDEX_UNIT_BITS = 3,
    ADDRESS_INDEX_PLACE_BITS = 24, /* of a code */
    ADDRESS_INDEX_REGION_BITS = ADDRESS_INDEX_UNIT_BITS + ADDRESS_INDEX_PLACE_BITS,
    ADDRESS_INDEX_REGIONS = 1 << (32 - ADDRESS_INDEX_PLACE_BITS),
};

bool address_index_init(struct address_index *a, size_t entries)
{
    *a = (struct address_index){.codes = memory_try_large(entries * sizeof *a->codes)};
    return a->codes != NULL;
}

void address_index_release(struct address_index *a)
{
    free(a->codes);
    vec_release(&a->regions);
    *a = (struct address_index){0};
}

/* The number of a region that is not that of the block before. */
static __attribute__((noinline)) void address_index_meet(struct address_index *a, uint64_t region)
{
    uint32_t number = 0;
    while (number < a->regions.count && a->regions.data[number] != region)
        number++;
    if (number == a->regions.count && (number == ADDRESS_INDEX_REGIONS || !vec_push(&a->regions, region)))
        a->is_odd = true;
    else
        a->latest = number;
}

uint32_t address_index_encode(struct address_index *a, uint64_t address)
{
    uint64_t region = address >> ADDRESS_INDEX_REGION_BITS;
    if (a->regions.count == 0 || a->regions.data[a->latest] != region)
        address_index_meet(a, region);
    a->is_odd = a->is_odd || address % (1 << ADDRESS_INDEX_UNIT_BITS) != 0;
    return a->latest << ADDRESS_INDEX_PLACE_BITS |
           ((uint32_t)(address >> ADDRESS_INDEX_UNIT_BITS) & ((1 << ADDRESS_INDEX_PLACE_BITS) - 1));
}

static int address_index_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void address_index_close(struct address_index *a, size_t count)
{
    uint64_t met[ADDRESS_INDEX_REGIONS];
    uint32_t moves[ADDRESS_INDEX_REGIONS]; /* what has to be added to the codes of a number */
    size_t regions = a->regions.count;
    for (size_t i = 0; i < regions; i++)
        met[i] = a->regions.data[i];
    if (regions > 1)
        qsort(a->regions.data, regions, sizeof *a->regions.data, address_index_compare);
    for (uint32_t i = 0; i < regions; i++)
        for (uint32_t k = 0; k < regions; k++)
            if (a->regions.data[k] == met[i])
                moves[i] = (k - i) << ADDRESS_INDEX_PLACE_BITS;
    for (size_t i = 0; i < count && regions > 1; i++)
        a->codes[i] += moves[a->codes[i] >> ADDRESS_INDEX_PLACE_BITS];
}

/* The code of the first place that is not below an address, 1 << 32 where all are. */
static uint64_t address_index_find_first(const struct address_index *a, uint64_t address)
{
    uint64_t unit = (address >> ADDRESS_INDEX_UNIT_BITS) + (address % (1 << ADDRESS_INDEX_UNIT_BITS) != 0);
    uint64_t number = 0, region = unit >> ADDRESS_INDEX_PLACE_BITS;
    while (number < a->regions.count && a->regions.data[number] < region)
        number++;
    bool is_inside = number < a->regions.count && a->regions.data[number] == region;
    return number << ADDRESS_INDEX_PLACE_BITS |
           (is_inside ? unit & ((1 << ADDRESS_INDEX_PLACE_BITS) - 1) : 0);
}

bool address_index_find(const struct address_index *a, const struct query_range *addresses,
                        struct query_range *codes)
{
    uint64_t all = (uint64_t)a->regions.count << ADDRESS_INDEX_PLACE_BITS;
    uint64_t end = addresses->max == UINT64_MAX ? all : address_index_find_first(a, addresses->max + 1);
    codes->min = address_index_find_first(a, addresses->min);
    codes->max = end - 1;
    return addresses->min <= addresses->max && codes->min < end;
}

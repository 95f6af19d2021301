/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * sorted: binary search in arrays that rise by a number of 64 bits.
 *
 *     sorted_below(times, count, ns)                  how many numbers are < ns
 *     sorted_up_to(times, count, ns)                  how many are <= ns
 *     sorted_below_by(list, count, address, start)    the same of list[i].start
 *     sorted_up_to_by(list, count, address, start)
 *
 * The result is also the index of the first element that is not counted.  With count 0 the list may be NULL.
 */
#ifndef HW_BASE_SORTED_H
#define HW_BASE_SORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* offset: of the number in an element of `size` bytes; up_to: elements equal to the key count too. */
static inline size_t sorted_count(const void *list, size_t count, size_t size, size_t offset, uint64_t key,
                                  bool up_to)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        uint64_t number;
        memcpy(&number, (const char *)list + middle * size + offset, sizeof number);
        if (number < key || (up_to && number == key))
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* Does not compile where the field is no uint64_t. */
#define SORTED_COUNT_BY(list, count, key, field, up_to)                              \
    _Generic((list)->field, uint64_t: sorted_count)((list), (count), sizeof *(list), \
                                                    offsetof(__typeof__(*(list)), field), (key), (up_to))

#define sorted_below_by(list, count, key, field) SORTED_COUNT_BY(list, count, key, field, false)
#define sorted_up_to_by(list, count, key, field) SORTED_COUNT_BY(list, count, key, field, true)

static inline size_t sorted_below(const uint64_t *list, size_t count, uint64_t key)
{
    return sorted_count(list, count, sizeof *list, 0, key, false);
}

static inline size_t sorted_up_to(const uint64_t *list, size_t count, uint64_t key)
{
    return sorted_count(list, count, sizeof *list, 0, key, true);
}

#endif

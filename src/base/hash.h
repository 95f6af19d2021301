/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hash: 64-bit mixers for tables in memory.  They are not for files (which
 * use XXH3) and not for input chosen by an enemy.
 *
 * No allocation, no libc.
 */
#ifndef HW_BASE_HASH_H
#define HW_BASE_HASH_H

#include <stdint.h>

/* The golden ratio as a 64-bit fraction: one multiply spreads low bits upwards;
 * take the high bits of the product. */
#define HASH_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* Cheapest: good in its high bits only. */
static inline uint64_t hash_spread(uint64_t value)
{
    return value * HASH_GOLDEN;
}

/* Every bit of the result depends on every bit of value. */
static inline uint64_t hash_mix(uint64_t value)
{
    value ^= value >> 32;
    value *= UINT64_C(0xd6e8feb86659fd93);
    value ^= value >> 32;
    value *= UINT64_C(0xd6e8feb86659fd93);
    value ^= value >> 32;
    return value;
}

/* Adds value to a running hash; the order of values counts. */
static inline uint64_t hash_join(uint64_t hash, uint64_t value)
{
    return hash_mix(hash * HASH_GOLDEN + value);
}

#endif

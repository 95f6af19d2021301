/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * histogram: how often which value, coarsely: powers of two, for people.
 */
#ifndef HW_ENGINE_HISTOGRAM_H
#define HW_ENGINE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "engine/result.h"

static inline unsigned histogram_bucket(uint64_t value)
{
    return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

static inline void histogram_add(struct query_histogram *h, uint64_t value, uint64_t blocks, uint64_t bytes)
{
    unsigned bucket = histogram_bucket(value);
    h->blocks[bucket] += blocks;
    h->bytes[bucket] += bytes;
}

/* Adds what another has. */
void histogram_join(struct query_histogram *to, const struct query_histogram *from);

enum { HISTOGRAM_MANY = 4096 };
/* Values of single blocks, each with the size of its block; HISTOGRAM_MANY at most. */
void histogram_add_many(struct query_histogram *h, const uint64_t *values, const uint32_t *sizes,
                        size_t count);

#endif

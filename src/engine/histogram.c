/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * histogram: see histogram.h.
 */
#include "engine/histogram.h"

#include <assert.h>

void histogram_join(struct query_histogram *to, const struct query_histogram *from)
{
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        to->blocks[i] += from->blocks[i];
        to->bytes[i] += from->bytes[i];
    }
}

/* How many and how much in one word: of so few blocks, below 4 GiB each, neither runs into the other. */
enum { HISTOGRAM_BYTES_BITS = 44, HISTOGRAM_WAYS = 4 };
static_assert(HISTOGRAM_MANY <= 1 << (HISTOGRAM_BYTES_BITS - 32), "the bytes of all have room");

/* Values that follow each other are alike, and adding to a sum has to wait for the one before: so there are several. */
void histogram_add_many(struct query_histogram *h, const uint64_t *values, const uint32_t *sizes,
                        size_t count)
{
    const uint64_t one = UINT64_C(1) << HISTOGRAM_BYTES_BITS;
    uint64_t sums[HISTOGRAM_WAYS][HISTOGRAM_BUCKETS] = {{0}};
    size_t i = 0;
    for (; count - i >= HISTOGRAM_WAYS; i += HISTOGRAM_WAYS) {
#pragma GCC unroll 4
        for (size_t way = 0; way < HISTOGRAM_WAYS; way++)
            sums[way][histogram_bucket(values[i + way])] += one + sizes[i + way];
    }
    for (; i < count; i++)
        sums[0][histogram_bucket(values[i])] += one + sizes[i];
    for (unsigned way = 0; way < HISTOGRAM_WAYS; way++)
        for (unsigned k = 0; k < HISTOGRAM_BUCKETS; k++) {
            h->blocks[k] += sums[way][k] / one;
            h->bytes[k] += sums[way][k] % one;
        }
}

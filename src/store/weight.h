/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * weight: how much a block of a sampled process stands for.
 *
 * A block of n bytes is recorded with probability p = 1 - exp(-n / rate)
 * (probe/sampling.h) and counted 1/p times: sums of that are right on average,
 * whatever the sizes.  Bytes are n/p, to the nearest whole one.  Blocks are
 * 1/p, rounded up as often as the fraction says; which way is decided by the
 * number of the allocation, so that the same block always counts the same.
 *
 * The error.  The variance of an estimate of B bytes is the sum of
 * n^2 (1-p)/p over all blocks, which is at most rate * B, since
 * x / (e^x - 1) <= 1.  So two standard deviations are 2 * sqrt(rate * B) at
 * most: 95 of 100 estimates are nearer to the truth than that.
 */
#ifndef HW_STORE_WEIGHT_H
#define HW_STORE_WEIGHT_H

#include <stdint.h>

struct weight {
    uint64_t blocks, bytes;
};

/* rate 0: every block is recorded, and counts once.  number: of its allocation. */
struct weight weight_sampled(uint64_t rate, uint64_t number, uint64_t size);

static inline struct weight weight_of(uint64_t rate, uint64_t number, uint64_t size)
{
    if (__builtin_expect(rate == 0, 1))
        return (struct weight){1, size};
    return weight_sampled(rate, number, size);
}

/* Two standard deviations of an estimate of so many bytes. */
uint64_t weight_error(uint64_t rate, uint64_t bytes);

#endif

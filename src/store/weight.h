/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * weight: how much a block of a sampled process stands for.
 *
 * A block of n bytes is recorded with probability p = 1 - exp(-n / rate)
 * (probe/sampling.h) and counted 1/p times: sums of that are right on average,
 * whatever the sizes.  Bytes are n/p, to the nearest whole one.  Blocks are
 * 1/p, rounded up as often as the fraction says; which way is decided by the
 * number of the allocation as it was made, so that the same block always counts
 * the same.  Culling takes numbers out and gives the others lower ones; a file
 * tells by gaps what they were:
 *
 *     number in the file   0 1 | 2 | 3 4
 *     gaps                     2:+3  3:+7
 *     as it was made       0 1 | 5 | 10 11
 *
 * The error.  The variance of an estimate of B bytes is the sum of
 * n^2 (1-p)/p over all blocks, which is at most rate * B, since
 * x / (e^x - 1) <= 1.  So two standard deviations are 2 * sqrt(rate * B) at
 * most: 95 of 100 estimates are nearer to the truth than that.
 */
#ifndef HW_STORE_WEIGHT_H
#define HW_STORE_WEIGHT_H

#include <stddef.h>
#include <stdint.h>

struct weight {
    uint64_t blocks, bytes;
};

/* From this number in the file on, up to the next gap, `skipped` is to be added. */
struct weight_gap {
    uint64_t number, skipped;
};

/* What the blocks of a process are weighed by. */
struct weight_rule {
    uint64_t rate;                 /* 0: every block is recorded, and counts once */
    const struct weight_gap *gaps; /* by rising number; somebody else's */
    size_t gap_count;
};

struct weight weight_sampled(uint64_t rate, uint64_t made, uint64_t size);

/* The number of an allocation as it was made. */
uint64_t weight_number(const struct weight_rule *rule, uint64_t number);

/* made: the number of its allocation, as it was made. */
static inline struct weight weight_made(uint64_t rate, uint64_t made, uint64_t size)
{
    if (__builtin_expect(rate == 0, 1))
        return (struct weight){1, size};
    return weight_sampled(rate, made, size);
}

/* number: of its allocation, in the file. */
static inline struct weight weight_of(const struct weight_rule *rule, uint64_t number, uint64_t size)
{
    if (__builtin_expect(rule->rate == 0, 1))
        return (struct weight){1, size};
    return weight_sampled(rule->rate, weight_number(rule, number), size);
}

/* Two standard deviations of an estimate of so many bytes. */
uint64_t weight_error(uint64_t rate, uint64_t bytes);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * weight: see weight.h.  Exponential and root by hand: few lines, and the same
 * digits on every machine.
 */
#include "store/weight.h"

#include "base/hash.h"
#include "base/sorted.h"

/* 1 - exp(-x) for x >= 0. */
static double weight_probability(double x)
{
    if (x > 40)
        return 1;
    /* By halves until the series is short; 1 - e^-2y = (1 - e^-y)(2 - (1 - e^-y)). */
    unsigned halvings = 0;
    for (; x > 0.125; x /= 2)
        halvings++;
    double term = x, sum = x;
    for (unsigned i = 2; i < 12; i++) {
        term *= -x / i;
        sum += term;
    }
    for (; halvings > 0; halvings--)
        sum *= 2 - sum;
    return sum;
}

struct weight weight_sampled(uint64_t rate, uint64_t made, uint64_t size)
{
    double n = size == 0 ? 1 : (double)size;
    double weight = 1 / weight_probability(n / (double)rate);
    uint64_t whole = (uint64_t)weight;
    double fraction = weight - (double)whole;
    double dice = (double)(hash_mix(made + 1) >> 11) / 9007199254740992.0; /* 2^53 */
    return (struct weight){
        .blocks = whole + (dice < fraction),
        .bytes = (uint64_t)(weight * (double)size + 0.5),
    };
}

uint64_t weight_number(const struct weight_rule *rule, uint64_t number)
{
    size_t gaps = sorted_up_to_by(rule->gaps, rule->gap_count, number, number);
    return gaps == 0 ? number : number + rule->gaps[gaps - 1].skipped;
}

uint64_t weight_error(uint64_t rate, uint64_t bytes)
{
    double variance = (double)rate * (double)bytes, root = variance;
    for (int i = 0; i < 128 && root > 1; i++) {
        double next = (root + variance / root) / 2;
        if (next >= root)
            break;
        root = next;
    }
    return (uint64_t)(2 * root + 0.5);
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * expect: guesses the usable size of a block from its size, the same way in
 * the encoder and in the decoder, so that a right guess costs one zero byte.
 *
 * Allocators round sizes up by fixed rules, with exceptions (glibc leaves a
 * remainder too small to be a block to its neighbour).  The guess is glibc's
 * rule, until another rounding was seen twice in a row among the sizes with
 * the same low ten bits; then it is that one, until glibc's rule holds again.
 * Nothing is remembered from one chunk to the next.
 */
#ifndef HW_STORE_EXPECT_H
#define HW_STORE_EXPECT_H

#include <stdint.h>
#include <string.h>

enum { EXPECT_SLOTS = 1024 };

#define EXPECT_SURE 0x8000u /* seen twice */

struct expect {
    uint16_t slack[EXPECT_SLOTS]; /* usable - size + 1, and EXPECT_SURE; 0 = glibc's rule */
};

static inline void expect_init(struct expect *e)
{
    memset(e, 0, sizeof *e);
}

static inline uint64_t expect_glibc(uint64_t size)
{
    uint64_t usable = ((size + 23) & ~UINT64_C(15)) - 8;
    return usable < 24 ? 24 : usable;
}

static inline uint64_t expect_usable(const struct expect *e, uint64_t size)
{
    uint16_t slack = e->slack[size % EXPECT_SLOTS];
    if (__builtin_expect((slack & EXPECT_SURE) != 0, 0))
        return size + (slack & ~EXPECT_SURE) - 1;
    return expect_glibc(size);
}

/* After a wrong guess. */
static inline void expect_learn(struct expect *e, uint64_t size, uint64_t usable)
{
    uint16_t *slot = &e->slack[size % EXPECT_SLOTS];
    uint64_t slack = usable - size + 1;
    if (usable == expect_glibc(size) || slack >= EXPECT_SURE)
        *slot = 0;
    else if ((*slot & ~EXPECT_SURE) == slack)
        *slot = (uint16_t)(slack | EXPECT_SURE);
    else
        *slot = (uint16_t)slack;
}

#endif

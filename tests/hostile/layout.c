/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * layout CASE: a program at a fixed address of its own choice, code and data in one
 * segment, without frame pointers, optimised hard.
 *
 * build: -O3 -no-pie -fno-pie -fomit-frame-pointer -Wl,-z,noseparate-code -Wl,-Ttext-segment=0x10000000 -s
 */
#include "hostile.h"

static NOINLINE void *pass_on(size_t size);

static NOINLINE void *tail(size_t size)
{
    return pass_on(size); /* a jump, not a call */
}

static NOINLINE void *pass_on(size_t size)
{
    return make(size);
}

static void fixed(void)
{
    for (int i = 0; i < 50; i++)
        drop(tail(10093), 10093);
    tail(10093);
}

HOSTILE_CASES({"fixed", fixed})

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libdeep: two functions with frames of different shapes that call back.
 */
#include "shadow.h"

void deep_call(void (*back)(int), int depth);

static NOINLINE void deep_inner(void (*back)(int), int depth)
{
    ENTER();
    char room[300];
    room[depth & 255] = 1;
    back(depth);
    truth_keep(room);
    LEAVE();
}

NOINLINE void deep_call(void (*back)(int), int depth)
{
    ENTER();
    if (depth > 0)
        deep_call(back, depth - 1);
    else
        deep_inner(back, depth);
    LEAVE();
}

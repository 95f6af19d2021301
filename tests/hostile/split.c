/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * split CASE: stacks in pieces, which grow where they are called (-fsplit-stack).
 *
 * build: -fsplit-stack
 */
#include "hostile.h"

#include <pthread.h>

static NOINLINE int down(int depth)
{
    volatile char room[700];
    room[0] = room[699] = (char)depth;
    if (depth == 0)
        work(10091, 4);
    else
        down(depth - 1);
    return room[699];
}

static void *in_thread(void *argument)
{
    for (int i = 0; i < 20; i++)
        down(i * 20);
    return argument;
}

static void pieces(void)
{
    pthread_t thread;
    in_thread(NULL);
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
}

HOSTILE_CASES({"pieces", pieces})

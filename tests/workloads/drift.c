/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * drift: functions that leak as many blocks as they are told, in the order
 *
 *     drift STEADY GROWING FIRST SECOND [ONCE_MORE]
 *
 * and say so.  drift_moved is the same with other lines, as after an edit.
 */
#include "truth.h"

#define NOINLINE __attribute__((noinline, noclone))

#ifdef DRIFT_MOVED
#line 500
#endif

NOINLINE static void steady(int count)
{
    for (int i = 0; i < count; i++)
        truth_keep(malloc(64));
}

NOINLINE static void growing(int count)
{
    for (int i = 0; i < count; i++)
        truth_keep(malloc(1000));
}

/* Two sites with one call path: lines alone tell them apart. */
NOINLINE static void twice(int first, int second)
{
    for (int i = 0; i < first; i++)
        truth_keep(malloc(200));
    for (int i = 0; i < second; i++)
        truth_keep(malloc(300));
}

NOINLINE static void once_more(int count)
{
    for (int i = 0; i < count; i++)
        truth_keep(malloc(50));
}

int main(int argc, char **argv)
{
    int count[5] = {0};
    for (int i = 1; i < argc && i <= 5; i++)
        count[i - 1] = atoi(argv[i]);
    steady(count[0]);
    growing(count[1]);
    twice(count[2], count[3]);
    if (count[4] > 0)
        once_more(count[4]);
    truth_add("{\"steady\": [%d, %d], \"growing\": [%d, %d], ", count[0] * 64, count[0], count[1] * 1000,
              count[1]);
    truth_add("\"first\": [%d, %d], \"second\": [%d, %d], \"once_more\": [%d, %d]}\n", count[2] * 200,
              count[2], count[3] * 300, count[3], count[4] * 50, count[4]);
    truth_tell(1);
    return 0;
}

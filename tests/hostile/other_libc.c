/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * other_libc: a program of another C library, whose loader would not run it
 * with the probe.
 *
 * build: CC=musl-gcc
 */
#include "hostile.h"

static void plain(void)
{
    work(10079, 10);
}

HOSTILE_CASES({"plain", plain})

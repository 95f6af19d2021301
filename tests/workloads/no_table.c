/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * no_table: a program without a search table for its unwind data. Makes blocks
 * three frames deep.
 *
 * build: -Wl,--no-eh-frame-hdr -fno-optimize-sibling-calls
 */
#include "truth.h"

static __attribute__((noinline)) void inner(void)
{
    for (int i = 0; i < 10; i++)
        truth_keep(malloc(7069));
}

static __attribute__((noinline)) void outer(void)
{
    inner();
    truth_keep(malloc(7079));
}

int main(void)
{
    outer();
    free(truth_keep(strdup("one more, made by libc")));
    return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * librewound: makes blocks, and says in which line.
 */
#include <stdlib.h>

unsigned library_line;

__attribute__((noinline)) void *library_make(size_t size)
{
    library_line = __LINE__ + 1;
    void *block = malloc(size);
    __asm__ volatile("" : "+r"(block));
    return block;
}

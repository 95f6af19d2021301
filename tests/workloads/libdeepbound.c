/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libdeepbound: a library that allocates by itself.
 */
#include <stdlib.h>

void *deepbound_make(size_t size)
{
    return malloc(size);
}

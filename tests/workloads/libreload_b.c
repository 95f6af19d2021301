/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libreload_b: takes turns with libreload in the same place; another file by its build id.
 */
#include <stdlib.h>

void *reload_make(size_t size);
void *reload_make(size_t size)
{
    void *volatile block = malloc(size);
    __asm__ volatile("nop");
    return block;
}

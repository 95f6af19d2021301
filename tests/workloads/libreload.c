/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libreload: a plugin that makes one block when it is called.
 */
#include <stdlib.h>

void *reload_make(size_t size);
void *reload_make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libplain: a plugin that allocates when it is asked, and in its constructor and
 * destructor, which release what they make.
 */
#include <stdlib.h>

void *plain_make(size_t size);

static void *volatile kept;

void *plain_make(size_t size)
{
    return malloc(size);
}

__attribute__((constructor)) static void plain_begin(void)
{
    kept = malloc(9341);
}

__attribute__((destructor)) static void plain_end(void)
{
    free(kept);
}

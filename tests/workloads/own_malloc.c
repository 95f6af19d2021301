/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * own_malloc: a program that brings its own malloc, and uses functions of libc
 * that its malloc does not replace: they must find that malloc, not another.
 *
 * build: {root}/tests/workloads/libsafealloc.c -rdynamic
 */
#include "truth.h"

int main(void)
{
    char *block = malloc(7069);
    memset(block, 'x', 7069);
    block = reallocarray(block, 2, 7079);
    char *copy = block == NULL ? NULL : strndup(block, 7069);
    truth_add("%d %zu\n", block != NULL, copy == NULL ? 0 : strlen(copy));
    free(copy);
    free(block);
    truth_tell(1);
    return 0;
}

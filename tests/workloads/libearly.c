/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libearly: a library that allocates while it is being bound (its IFUNC
 * resolver runs before any constructor) and in its constructor.
 */
#include <stddef.h>
#include <stdlib.h>

int early_count;

static int early_answer(void)
{
    return early_count;
}

/* Runs during relocation, when this library's calls may not be bound yet: it
 * goes through a pointer in its own data only when the loader has set it. */
extern void *malloc(size_t) __attribute__((weak));
static void *(*volatile early_malloc)(size_t) = malloc;

static int (*early_choose(void))(void)
{
    if (early_malloc != NULL && early_malloc(10067) != NULL)
        early_count++;
    return early_answer;
}

int early_library(void) __attribute__((ifunc("early_choose")));

__attribute__((constructor)) static void early_constructor(void)
{
    void *volatile block = malloc(10061);
    (void)block;
}

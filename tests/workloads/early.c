/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * early: allocates in .preinit_array, in IFUNC resolvers of itself and of a
 * library, in constructors, and after main in destructors and exit handlers;
 * tells what of it must be found.
 *
 * build: -Wno-attributes -L{build}/tests/workloads -learly -Wl,-rpath,{build}/tests/workloads
 */
#include "truth.h"

extern int early_library(void);
static void *resolver_block;

static int chosen(void)
{
    return 1;
}

static int (*choose(void))(void)
{
    return chosen;
}

int picked(void) __attribute__((ifunc("choose")));

static void before_all(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    (void)environment;
    for (int i = 0; i < 5; i++)
        truth_keep(malloc(7069));
    void *block = truth_keep(malloc(7079));
    free(block);
    resolver_block = truth_keep(malloc(7103));
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **,
                                                                              char **) = before_all;

__attribute__((constructor(101))) static void constructor(void)
{
    for (int i = 0; i < 3; i++)
        truth_keep(malloc(10007));
    resolver_block = truth_keep(realloc(resolver_block, 17093));
}

static void last(void)
{
    truth_keep(malloc(10037));
}

__attribute__((destructor)) static void destructor(void)
{
    truth_keep(malloc(10039));
}

int main(void)
{
    atexit(last);
    free(resolver_block);
    truth_add("{\"7069\": [5, 0], \"7079\": [1, 1], \"7103\": [1, 1], \"17093\": [1, 1], \"10007\": [3, 0], "
              "\"10037\": [1, 0], \"10039\": [1, 0], \"10061\": [1, 0], \"10067\": [%d, %d]}\n",
              early_library(), picked() - 1);
    truth_tell(1);
    return 0;
}

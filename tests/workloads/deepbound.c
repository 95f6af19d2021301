/* SPDX-License-Identifier: MIT OR Apache-2.0
 * build: -ldl
 *
 * deepbound LIBRARY deep | usual | asked: makes 10 blocks of 7001 bytes itself and 10 of 7027 in LIBRARY, which it
 * loads
 *
 *   deep     with RTLD_DEEPBIND, five times
 *   usual    without
 *   asked    without, and then asks with RTLD_DEEPBIND and RTLD_NOLOAD whether it is there
 */
#define _GNU_SOURCE
#include "truth.h"

#include <dlfcn.h>

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    void *library = NULL;
    int is_deep = strcmp(argv[2], "deep") == 0;
    for (int i = 0; i < (is_deep ? 5 : 1); i++)
        library = dlopen(argv[1], RTLD_NOW | (is_deep ? RTLD_DEEPBIND : 0));
    if (strcmp(argv[2], "asked") == 0 && dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND | RTLD_NOLOAD) != library)
        return 3;
    if (library == NULL || dlopen("/nowhere/at/all.so", RTLD_NOW) != NULL || dlerror() == NULL)
        return 4;
    void *(*make)(size_t) = (void *(*)(size_t))dlsym(library, "deepbound_make");
    for (int i = 0; i < 10; i++) {
        truth_keep(malloc(7001));
        truth_keep(make(7027));
    }
    return 0;
}

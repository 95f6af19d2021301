/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * reload: loads a plugin, lets it make a block, unloads it; two plugins in turns,
 * so many times in all.
 *
 *     reload LIBRARY LIBRARY TIMES
 */
#include "truth.h"

#include <dlfcn.h>

int main(int argc, char **argv)
{
    long times = argc > 3 ? atol(argv[3]) : 0, made = 0;
    for (long i = 0; i < times; i++) {
        void *library = dlopen(argv[1 + i % 2], RTLD_NOW);
        if (library == NULL)
            return 3;
        void *(*make)(size_t);
        *(void **)&make = dlsym(library, "reload_make");
        void *block = make(7069 + (size_t)(i % 2));
        made += block != NULL;
        free(block);
        dlclose(library);
    }
    truth_add("{\"made\": %ld}\n", made);
    truth_tell(1);
    return 0;
}

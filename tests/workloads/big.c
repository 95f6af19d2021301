/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * big: blocks whose size does not fit 24 or 32 bits, calls that must fail, and
 * mappings made, moved, cut and released by hand.
 */
#include "truth.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

static size_t hidden(size_t n)
{
    __asm__ volatile("" : "+r"(n));
    return n;
}

int main(void)
{
    int failed = 0;
    static const size_t sizes[] = {16777215, 16777216, 16777217, 100000007, 5000000029};
    truth_add("{\"made\": [");
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *block = malloc(sizes[i]);
        if (block == NULL)
            continue; /* a small machine */
        truth_add("%s%zu", i == 0 ? "" : ", ", sizes[i]);
        block[0] = block[sizes[i] - 1] = 1;
        if (i % 2 == 0)
            free(block);
    }
    failed += truth_keep(malloc(hidden((size_t)1 << 47))) == NULL;
    failed += truth_keep(malloc(hidden(PTRDIFF_MAX))) == NULL;
    failed += truth_keep(calloc(hidden((size_t)1 << 33), (size_t)1 << 32)) == NULL;
    void *block = truth_keep(realloc(malloc(10007), 33554467));
    block = truth_keep(realloc(block, 50331653));

    char *map = mmap(NULL, 7 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *first = map;
    map = mremap(map, 7 * 4096, 1003 * 4096, MREMAP_MAYMOVE);
    munmap(map, 500 * 4096);
    int wrong = munmap(map + 1, 4096) == 0 || errno != EINVAL;
    wrong += mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED || errno != EINVAL;
    wrong += mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, -1, 0) != MAP_FAILED || errno != EBADF;
    char *end = sbrk(0);
    wrong += sbrk(3 * 4096) != end;
    wrong += brk(end) != 0 || sbrk(0) != (void *)end;
    truth_add("], \"failed\": %d, \"wrong\": %d, \"first\": %lu, \"map\": %lu, \"end\": %lu}\n", failed,
              wrong, (unsigned long)(uintptr_t)first, (unsigned long)(uintptr_t)map,
              (unsigned long)(uintptr_t)end);
    truth_tell(1);
    return 0;
}

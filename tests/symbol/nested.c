/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * nested: a function inside a function, as GNU C has them: its entry in the
 * debugging information is below that of the other.  Used as points.cc is.
 */
#include <link.h>
#include <stdint.h>
#include <stdio.h>

static int take(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(uint64_t *)bias = info->dlpi_addr;
    return 1;
}

__attribute__((noinline)) int note(const char *point)
{
    uint64_t bias = 0;
    dl_iterate_phdr(take, &bias);
    uint64_t here = (uintptr_t)__builtin_return_address(0) - bias;
    printf("%llx %s\n", (unsigned long long)here, point);
    return (int)(here & 1);
}

__attribute__((noinline)) static int outside(int x)
{
    __attribute__((noinline)) int inside(int y)
    {
        x += note("inside"); //@ inside: inside
        return x + y;
    }
    x += note("outside"); //@ outside: outside
    return inside(x) + 1;
}

int main(int argc, char **argv)
{
    (void)argv;
    return outside(argc) == 12345678;
}

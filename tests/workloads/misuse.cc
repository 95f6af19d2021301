/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * misuse MODE: releases what it should not, and tells what before it does: glibc ends
 * the program for some of it.
 *
 *     mismatch   new with free, malloc with delete, new[] with delete, new with delete[], new with realloc
 *     double     a block is freed twice
 *     stale      a block that realloc has moved is freed where it was
 *     again      the same, with realloc
 *     inside     an address inside of a block
 *     never      an address that nobody allocated
 *     fork       a child frees what its parent made, then its own
 *     good       all kinds of allocation, each with its own release
 *
 * build: -fno-optimize-sibling-calls -Wno-mismatched-new-delete -Wno-use-after-free -Wno-free-nonheap-object -Wno-pedantic
 */
#include "truth.h"

#include <new>
#include <sys/wait.h>

#define NOINLINE __attribute__((noinline, noclone))

template <typename T> static T *keep(T *block)
{
    return static_cast<T *>(truth_keep(block));
}

static void tell_address(const void *at)
{
    truth_add("{\"address\": %lu}\n", (unsigned long)at);
    truth_tell(1);
}

NOINLINE static void new_then_free()
{
    for (int i = 0; i < 3; i++)
        free(keep(new char));
}

NOINLINE static void malloc_then_delete()
{
    for (int i = 0; i < 2; i++)
        ::operator delete(keep(malloc(40)));
}

NOINLINE static void array_then_delete()
{
    ::operator delete(keep(::operator new[](50)));
}

NOINLINE static void new_then_array_delete()
{
    ::operator delete[](keep(::operator new(60)));
}

NOINLINE static void new_then_realloc()
{
    free(keep(realloc(keep(::operator new(70)), 90)));
}

NOINLINE static char *make(size_t size)
{
    return static_cast<char *>(keep(malloc(size)));
}

NOINLINE static void twice()
{
    char *block = make(777);
    tell_address(block);
    free(block);
    free(keep(block));
}

NOINLINE static char *move(char *block, size_t size)
{
    return static_cast<char *>(keep(realloc(block, size)));
}

NOINLINE static char *moved()
{
    char *block = make(777);
    tell_address(block);
    move(block, 1 << 20);
    return static_cast<char *>(keep(block));
}

NOINLINE static void inside()
{
    char *block = make(888);
    tell_address(block + 128);
    free(keep(block + 128));
}

NOINLINE static void never()
{
    static char buffer[4096] __attribute__((aligned(16)));
    tell_address(buffer + 1024);
    free(keep(buffer + 1024));
}

NOINLINE static void with_child()
{
    char *block = make(999);
    tell_address(block);
    pid_t child = fork();
    if (child == 0) {
        free(block);
        free(make(111));
        _exit(0);
    }
    waitpid(child, nullptr, 0);
    free(block);
}

static void properly()
{
    struct alignas(64) wide {
        char bytes[64];
    };
    free(keep(malloc(10)));
    free(keep(calloc(2, 10)));
    free(keep(realloc(keep(malloc(10)), 1000)));
    free(keep(aligned_alloc(64, 64)));
    delete keep(new int);
    delete[] keep(new int[10]);
    delete keep(new wide);
    delete[] keep(new wide[3]);
    ::operator delete(keep(::operator new(5, std::nothrow)), std::nothrow);
}

int main(int, char **argv)
{
    switch (argv[1] == nullptr ? '?' : argv[1][0]) {
    case 'm':
        new_then_free();
        malloc_then_delete();
        array_then_delete();
        new_then_array_delete();
        new_then_realloc();
        return 0;
    case 'd':
        twice();
        return 0;
    case 'i':
        inside();
        return 0;
    case 'n':
        never();
        return 0;
    case 's':
        free(moved());
        return 0;
    case 'a':
        move(moved(), 777);
        return 0;
    default:
        argv[1] != nullptr &&strcmp(argv[1], "fork") == 0 ? with_child() : properly();
        return 0;
    }
}

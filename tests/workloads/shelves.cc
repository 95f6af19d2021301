/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * shelves: leaks along a known tree of calls, from two threads, in C++, whose library keeps a pool.
 * Prints each block that it leaks, with its size, its address and its thread, and by which function.
 *
 *     main > open_shop > fill_shelf > leak_bolt      3 blocks of 1000 bytes
 *     main > open_shop > leak_nut                    2 blocks of 70 bytes
 *     (thread "stocker") > restock > leak_screw      1 block of 5000 bytes
 *
 * build: -O0
 */
#include "truth.h"

#include <cstdint>
#include <iostream>
#include <pthread.h>
#include <sys/syscall.h>

static void *volatile kept[16];
static unsigned count;

static void keep(const char *function, void *block, size_t size)
{
    truth_add("%s{\"function\": \"%s\", \"address\": %llu, \"size\": %zu, \"tid\": %ld}",
              count == 0 ? "" : ", ", function, (unsigned long long)(uintptr_t)block, size,
              syscall(SYS_gettid));
    kept[count++] = block;
}

static void leak_bolt()
{
    keep("leak_bolt", malloc(1000), 1000);
}

static void leak_nut()
{
    keep("leak_nut", malloc(70), 70);
}

static void leak_screw()
{
    keep("leak_screw", malloc(5000), 5000);
}

static void fill_shelf()
{
    for (int i = 0; i < 3; i++)
        leak_bolt();
}

static void open_shop()
{
    fill_shelf();
    for (int i = 0; i < 2; i++)
        leak_nut();
}

static void *restock(void *)
{
    pthread_setname_np(pthread_self(), "stocker");
    leak_screw();
    return nullptr;
}

int main()
{
    pthread_t thread;
    truth_add("{\"leaks\": [");
    open_shop();
    pthread_create(&thread, nullptr, restock, nullptr);
    pthread_join(thread, nullptr);
    std::cout << std::flush;
    truth_add("]}\n");
    truth_tell(1);
    return 0;
}

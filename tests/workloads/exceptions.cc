/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * exceptions [ROUNDS]: C++ that allocates wherever an exception can be on its way: in
 * catch blocks, in destructors while frames are being left, in copies of exceptions, in
 * exceptions inside exceptions, through frames of C and of a library, in threads that
 * end by cancellation. Prints how many exceptions it caught and blocks it made.
 *
 * build: -fcf-protection=full {build}/tests/workloads/libexceptions.so -Wl,-rpath,$ORIGIN
 */
#include "exceptions.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <pthread.h>
#include <unwind.h>
#include <vector>

#define APART __attribute__((noinline))

static unsigned long caught;

APART static void fail(int level)
{
    ballast b(64);
    if (level % 3 == 0)
        throw heavy(level);
    if (level % 3 == 1)
        throw std::string(100, 'y');
    throw std::bad_alloc();
}

/* Through frames of both sides, caught far out. */
APART static void pass(int level)
{
    try {
        ballast b(72);
        relay(level % 7, [=] { relay_odd(level % 5, [=] { fail(level); }); });
    } catch (const heavy &e) {
        touch(80);
        caught++;
    } catch (const std::string &) {
        auto kept = std::make_unique<std::string>(60, 'z');
        caught++;
    } catch (...) {
        touch(88);
        caught++;
    }
}

/* A catch block that throws it again, in each of several frames. */
APART static void again(int level)
{
    try {
        if (level == 0)
            fail(0);
        else if (level > 0)
            again(level - 1);
    } catch (const heavy &e) {
        heavy copy(e);
        touch(96);
        throw;
    }
}

/* A destructor that throws and catches while another exception leaves its frame. */
struct stormy {
    ~stormy()
    {
        try {
            relay(2, [] { fail(1); });
        } catch (const std::string &s) {
            touch(s.size());
            caught++;
        }
    }
};

APART static void in_destructor()
{
    try {
        stormy s;
        relay_odd(2, [] { fail(3); });
    } catch (const heavy &) {
        touch(104);
        caught++;
    }
}

APART static void unpack(const std::exception &e)
{
    touch(112);
    try {
        std::rethrow_if_nested(e);
    } catch (const std::exception &inner) {
        unpack(inner);
        caught++;
    }
}

APART static void nested(int level)
{
    try {
        wrap(level % 6, [=] { again(level % 4); });
    } catch (const heavy &e) {
        unpack(e);
        caught++;
    }
}

/* Through qsort, which is C. */
static int compare(const void *a, const void *b)
{
    touch(120);
    if (*static_cast<const int *>(a) == 3)
        fail(0);
    return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

APART static void through_c()
{
    int numbers[] = {9, 4, 3, 7, 1};
    try {
        std::qsort(numbers, 5, sizeof numbers[0], compare);
    } catch (const heavy &) {
        touch(128);
        caught++;
    }
}

APART static void too_much()
{
    try {
        volatile std::size_t n = static_cast<std::size_t>(-1) / 4;
        delete[] new char[n];
    } catch (const std::bad_alloc &) {
        touch(136);
        caught++;
    }
}

/* Frames of the unwinder itself, calling back. */
static _Unwind_Reason_Code each_frame(struct _Unwind_Context *, void *)
{
    touch(144);
    return _URC_NO_REASON;
}

/* A function whose whole body is tried, and a constructor that fails half way. */
struct half {
    half(int level)
    try : first(8), b(152) {
        fail(level);
    } catch (...) {
        touch(160);
        throw;
    }
    std::vector<int> first;
    ballast b;
};

APART static void constructor(int level)
{
    try {
        half h(level);
    } catch (...) {
        touch(168);
        caught++;
    }
}

static void *cancelled(void *)
{
    ballast b(176);
    relay(3, [] {
        ballast inner(184);
        pass(4);
        pthread_exit(nullptr);
    });
    return nullptr;
}

static void *with_exception(void *pointer)
{
    try {
        std::rethrow_exception(*static_cast<std::exception_ptr *>(pointer));
    } catch (const heavy &e) {
        touch(192);
        unpack(e);
    }
    return nullptr;
}

APART static void threads()
{
    std::exception_ptr kept;
    pthread_t one, two;
    try {
        fail(0);
    } catch (...) {
        touch(200);
        kept = std::current_exception();
        caught++;
    }
    pthread_create(&one, nullptr, cancelled, nullptr);
    pthread_join(one, nullptr);
    pthread_create(&two, nullptr, with_exception, &kept);
    pthread_join(two, nullptr);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
    for (int i = 0; i < rounds; i++) {
        pass(i);
        in_destructor();
        nested(i);
        through_c();
        too_much();
        relay(i % 4, [] { _Unwind_Backtrace(each_frame, nullptr); });
        constructor(i);
        if (i % 64 == 0)
            threads();
    }
    std::printf("caught %lu touched %lu\n", caught, touched());
}

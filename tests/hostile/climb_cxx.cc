/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * climb_cxx CASE: exceptions, thread-local objects, static objects, operators.
 */
#include "hostile.h"

#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

namespace
{

struct Held {
    size_t size;
    void *block;
    explicit Held(size_t wanted) : size(wanted), block(make(wanted))
    {
    }
    ~Held()
    {
        drop(block, size);
    }
};

NOINLINE void throw_deep(int depth)
{
    Held held(9803);
    if (depth == 0)
        throw std::runtime_error("from below");
    throw_deep(depth - 1);
}

void exceptions()
{
    for (int i = 0; i < 20; i++) {
        try {
            throw_deep(i * 15);
        } catch (const std::exception &) {
            work(9803, 2);
        }
    }
}

void rethrown_elsewhere()
{
    for (int i = 0; i < 10; i++) {
        std::exception_ptr kept;
        std::thread([&] {
            try {
                throw_deep(7);
            } catch (...) {
                kept = std::current_exception();
            }
        }).join();
        try {
            std::rethrow_exception(kept);
        } catch (const std::exception &) {
            work(9811, 2);
        }
    }
}

/* Objects of a thread, made late, whose destructors allocate. */
struct Last {
    void *block = make(9817);
    ~Last()
    {
        drop(block, 9817);
        work(9817, 3);
    }
};
thread_local Last last;
thread_local std::vector<Last> many;

void thread_objects()
{
    for (int i = 0; i < 20; i++) {
        std::thread([] {
            truth_keep(&last);
            many.resize(2);
        }).join();
    }
}

/* A new handler that gives up, and one that makes room. */
void *reserve;

void give_room()
{
    if (reserve == nullptr)
        throw std::bad_alloc();
    free(reserve);
    reserve = nullptr;
}

void new_handler()
{
    reserve = malloc(1 << 20);
    std::set_new_handler(give_room);
    size_t senseless = SIZE_MAX / 2;
    __asm__("" : "+r"(senseless));
    for (int i = 0; i < 10; i++) {
        try {
            truth_keep(operator new(senseless));
            expect(0, "senseless memory was given");
        } catch (const std::bad_alloc &) {
            work(9829, 2);
        }
    }
    expect(reserve == nullptr, "the new handler was not called");
    expect(operator new(senseless, std::nothrow) == nullptr, "nothrow new has an answer");
}

/* The class has operators of its own, which call malloc. */
struct Own {
    char room[9833];
    static void *operator new(size_t size)
    {
        count_made(size);
        return malloc(size);
    }
    static void operator delete(void *block)
    {
        count_freed(9833);
        free(block);
    }
};

void class_operators()
{
    for (int i = 0; i < 20; i++) {
        Own *own = new Own;
        truth_keep(own);
        if (i % 2 == 0)
            delete own;
    }
}

NOINLINE void not_expected() noexcept(false)
{
    throw 5;
}

NOINLINE void promise() noexcept
{
    not_expected();
}

void terminated()
{
    std::set_terminate([] {
        work(9839, 5);
        tell();
        _exit(41);
    });
    promise();
}

} // namespace

HOSTILE_CASES({"exceptions", exceptions}, {"rethrown_elsewhere", rethrown_elsewhere},
              {"thread_objects", thread_objects}, {"new_handler", new_handler},
              {"class_operators", class_operators}, {"terminated", terminated})

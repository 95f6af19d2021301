/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * exceptions: what the program exceptions and its library share.
 */
#ifndef HW_TESTS_WORKLOADS_EXCEPTIONS_H
#define HW_TESTS_WORKLOADS_EXCEPTIONS_H

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>

/* Allocates n bytes, lets nobody optimise that away, and counts. */
void touch(std::size_t n);
unsigned long touched();

/* Allocates when it goes out of scope, by the end of a function or by an exception. */
struct ballast {
    explicit ballast(std::size_t n) : n(n)
    {
    }
    ~ballast()
    {
        touch(n);
    }
    std::size_t n;
};

/* An exception whose copies allocate too. */
struct heavy : std::runtime_error {
    explicit heavy(int level) : std::runtime_error("heavy " + std::string(40, 'x')), level(level)
    {
    }
    heavy(const heavy &other) : std::runtime_error(other), level(other.level)
    {
        touch(24);
    }
    int level;
};

/* libexceptions.so: calls `action` through so many frames of the library, each with
 * something to clean up. */
void relay(int frames, const std::function<void()> &action);

/* The same, with a frame pointer, an aligned local and a frame whose size is known
 * only when it runs. */
void relay_odd(int frames, const std::function<void()> &action);

/* Catches what `action` throws, allocates, and throws it on as the inner one of another. */
void wrap(int frames, const std::function<void()> &action);

#endif

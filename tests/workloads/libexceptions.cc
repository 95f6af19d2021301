/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libexceptions: frames of a library for exceptions to pass through.
 *
 * build: -fcf-protection=full
 */
#include "exceptions.h"

#include <alloca.h>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>

#define APART __attribute__((noinline))

static std::atomic<unsigned long> count;

APART void touch(std::size_t n)
{
    void *block = std::malloc(n);
    __asm__ volatile("" : : "r"(block) : "memory");
    std::free(block);
    count++;
}

unsigned long touched()
{
    return count;
}

APART void relay(int frames, const std::function<void()> &action)
{
    ballast b(16 + static_cast<std::size_t>(frames));
    if (frames == 0)
        action();
    else
        relay(frames - 1, action);
    __asm__ volatile("");
}

APART void relay_odd(int frames, const std::function<void()> &action)
{
    alignas(64) char aligned[64];
    char *variable = static_cast<char *>(alloca(static_cast<std::size_t>(frames) * 24 + 8));
    ballast b(32);
    std::memset(aligned, frames, sizeof aligned);
    std::memset(variable, frames, 8);
    __asm__ volatile("" : : "r"(aligned), "r"(variable) : "memory");
    if (frames == 0)
        action();
    else
        relay_odd(frames - 1, action);
    __asm__ volatile("" : : "r"(aligned), "r"(variable) : "memory");
}

APART void wrap(int frames, const std::function<void()> &action)
{
    ballast b(48);
    try {
        if (frames == 0)
            action();
        else
            wrap(frames - 1, action);
    } catch (...) {
        touch(56);
        std::throw_with_nested(heavy(frames));
    }
}

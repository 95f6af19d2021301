// SPDX-License-Identifier: MIT OR Apache-2.0
//
// hooks_cxx [portable]: every form of operator new and delete once, each with a size of
// its own; what cannot be had throws, calls the new handler, or gives NULL
// (`portable` leaves that out: not every allocator can throw).
// build: -std=c++17 -fsized-deallocation
#include "truth.h"

#include <cerrno>
#include <cstdint>
#include <malloc.h>
#include <new>

static const char *comma = "";
static int wrong;

static void *made(const char *kind, void *block, size_t size, size_t alignment)
{
    wrong += block == nullptr || reinterpret_cast<uintptr_t>(block) % alignment != 0;
    wrong += malloc_usable_size(block) < size;
    memset(block, 0x5a, size);
    truth_add("%s{\"kind\": \"%s\", \"size\": %zu, \"usable\": %zu, \"address\": %lu, \"lives\": false}",
              comma, kind, size, malloc_usable_size(block),
              static_cast<unsigned long>(reinterpret_cast<uintptr_t>(block)));
    comma = ",\n ";
    return block;
}

static int handled;

static void handler()
{
    handled++;
    std::set_new_handler(nullptr);
}

static size_t hidden(size_t n)
{
    asm volatile("" : "+r"(n));
    return n;
}

template <typename F> static void expect_bad_alloc(F make)
{
    try {
        truth_keep(make());
        wrong += 100;
    } catch (const std::bad_alloc &) {
    }
}

static void check_failures(std::align_val_t big)
{
    const size_t never = hidden(PTRDIFF_MAX - 4096);
    expect_bad_alloc([=] { return ::operator new(never); });
    expect_bad_alloc([=] { return ::operator new[](never); });
    expect_bad_alloc([=] { return ::operator new(never, big); });
    wrong += truth_keep(::operator new(never, std::nothrow)) != nullptr;
    wrong += truth_keep(::operator new[](never, big, std::nothrow)) != nullptr;
    std::set_new_handler(handler);
    wrong += truth_keep(::operator new(never, std::nothrow)) != nullptr;
    wrong += handled != 1;
}

int main(int argc, char **argv)
{
    const bool portable = argc > 1 && strcmp(argv[1], "portable") == 0;
    const auto big = std::align_val_t(256);
    truth_add("{\"blocks\": [");
    ::operator delete(made("new", ::operator new(9001), 9001, 16));
    ::operator delete[](made("new[]", ::operator new[](9007), 9007, 16));
    ::operator delete(made("new", ::operator new(9011, std::nothrow), 9011, 16), std::nothrow);
    ::operator delete[](made("new[]", ::operator new[](9013, std::nothrow), 9013, 16), std::nothrow);
    ::operator delete(made("new", ::operator new(9029), 9029, 16), 9029);
    ::operator delete[](made("new[]", ::operator new[](9041), 9041, 16), 9041);
    ::operator delete(made("new-aligned", ::operator new(9043, big), 9043, 256), big);
    ::operator delete[](made("new[]-aligned", ::operator new[](9049, big), 9049, 256), big);
    ::operator delete(made("new-aligned", ::operator new(9059, big), 9059, 256), 9059, big);
    ::operator delete[](made("new[]-aligned", ::operator new[](9067, big), 9067, 256), 9067, big);
    ::operator delete(made("new-aligned", ::operator new(9091, big, std::nothrow), 9091, 256), big,
                      std::nothrow);
    ::operator delete[](made("new[]-aligned", ::operator new[](9103, big, std::nothrow), 9103, 256), big,
                        std::nothrow);

    if (!portable)
        check_failures(big);
    truth_add("], \"complaints\": [");
    if (wrong != 0)
        truth_add("\"%d things are wrong\"", wrong);
    truth_add("]}\n");
    truth_tell(1);
    return 0;
}

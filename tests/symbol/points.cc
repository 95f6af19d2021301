// SPDX-License-Identifier: MIT OR Apache-2.0
//
// points: a program that knows where it is. Compiled in many ways by the
// scenario symbols, which asks src/symbol about the addresses it prints.
//
// Each point prints "ELF address of a return address, name of the point". What a
// point is called in, innermost first, and in which lines stands in the comment
// behind its line:
//
//     //@ point: function < function it is inlined into < ...
//
// A line that calls the function before it in such a chain is marked "//= function".
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <link.h>

extern "C" int plain(int x);

static std::uint64_t bias()
{
    std::uint64_t found = 0;
    dl_iterate_phdr(
        [](dl_phdr_info *info, size_t, void *context) {
            *static_cast<std::uint64_t *>(context) = info->dlpi_addr;
            return 1;
        },
        &found);
    return found;
}

__attribute__((noinline)) int note(const char *point)
{
    auto here = reinterpret_cast<std::uint64_t>(__builtin_return_address(0)) - bias();
    std::printf("%" PRIx64 " %s\n", here, point);
    return static_cast<int>(here & 1);
}

#define INLINE __attribute__((always_inline)) inline
#define CALLED __attribute__((noinline))

namespace inn
{
namespace
{
INLINE int hidden(int x)
{
    x += note("hidden"); //@ hidden: inn::(anonymous namespace)::hidden < inn::Box<int>::open < inn::cook
    return x * 3;
}

CALLED int secret(int x)
{
    x += note("secret"); //@ secret: inn::(anonymous namespace)::secret
    return x * 5;
}
} // namespace

template <typename T> struct Box {
    T content;

    INLINE int open(int x)
    {
        int y = hidden(x); //= inn::(anonymous namespace)::hidden
        return y + static_cast<int>(content);
    }

    CALLED int shut(int x)
    {
        x += note("shut"); //@ shut: inn::Box<double>::shut
        return x + static_cast<int>(content);
    }
};

CALLED int cook(int x)
{
    Box<int> box{x};
    int y = box.open(x); //= inn::Box<int>::open
    return y + 1;
}

struct Pot {
    int depth;
    CALLED explicit Pot(int x) : depth(x)
    {
        depth += note("constructor"); //@ constructor: inn::Pot::Pot
    }
    CALLED int operator()(int x) const
    {
        x += note("operator"); //@ operator: inn::Pot::operator()
        return x + depth;
    }
};
} // namespace inn

extern "C" CALLED int plain(int x)
{
    x += note("plain"); //@ plain: plain
    return x + 2;
}

int main(int argc, char **)
{
    inn::Box<double> box{2.5};
    inn::Pot pot(argc);
    int sum = inn::cook(argc) + inn::secret(argc) + box.shut(argc) + pot(argc) + plain(argc);
    sum += note("main"); //@ main: main
    return sum == 12345678;
}

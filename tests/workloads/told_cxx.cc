// SPDX-License-Identifier: MIT OR Apache-2.0
//
// told_cxx: include/heapwake.h from C++, and through dlsym.
// build: -I{root}/include -std=c++11
#include <heapwake.h>

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

static __attribute__((noinline)) char *make(std::size_t size)
{
    char *block = new char[size];
    __asm__ volatile("" : "+r"(block));
    return block;
}

int main()
{
    HEAPWAKE_TAG("c++");
    char *seen = make(7201), *hidden;
    {
        heapwake::suppress scope;
        hidden = make(7202);
    }
    char *after = make(7203);
    delete[] hidden;
    delete[] seen;
    HEAPWAKE_IGNORE(after);
    using tag = void (*)(const char *);
    tag found = reinterpret_cast<tag>(dlsym(RTLD_DEFAULT, "heapwake_tag"));
    if (found != nullptr)
        found("by name");
    std::printf("{\"found\": %d, \"flush\": %d}\n", found != nullptr, HEAPWAKE_FLUSH());
    return 0;
}

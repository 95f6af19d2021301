// SPDX-License-Identifier: MIT OR Apache-2.0
//
// stacks_cxx: blocks made while an exception is on its way: in catch blocks, in
// destructors that run during unwinding, after rethrowing.
// build: -std=c++17 -fomit-frame-pointer
#define SHADOW_OWNER
#include "shadow.h"

#include <stdexcept>

// Takes its note back however the function is left.
struct Note {
    unsigned depth;
    explicit Note(void *from) : depth(shadow.depth)
    {
        shadow.at[shadow.depth++] = reinterpret_cast<uintptr_t>(from);
    }
    ~Note()
    {
        shadow.depth = depth;
    }
};
#define NOTE Note note(__builtin_return_address(0))

struct Grabber {
    const char *name;
    NOINLINE ~Grabber();
};

Grabber::~Grabber()
{
    NOTE;
    grab(name, 7069);
}

static NOINLINE void thrower(int depth)
{
    NOTE;
    if (depth == 0)
        throw std::runtime_error("on its way");
    Grabber local{"destructor while unwinding"};
    thrower(depth - 1);
    truth_keep(&local);
}

static NOINLINE void catcher()
{
    NOTE;
    try {
        thrower(20);
    } catch (const std::exception &) {
        grab("catch block", 7079);
    }
}

static NOINLINE void rethrower()
{
    NOTE;
    try {
        thrower(2);
    } catch (...) {
        grab("before rethrowing", 7103);
        throw;
    }
}

static NOINLINE void nested()
{
    NOTE;
    try {
        rethrower();
    } catch (const std::exception &) {
        try {
            catcher();
            thrower(1);
        } catch (...) {
            grab("exception in a catch block", 7109);
        }
    }
}

int main()
{
    shadow.at[shadow.depth++] = 0;
    NOTE;
    for (int i = 0; i < 3; i++) {
        catcher();
        nested();
    }
    return 0;
}

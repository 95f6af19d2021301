// SPDX-License-Identifier: MIT OR Apache-2.0
//
// odd: blocks made by functions with names that mean something to somebody: operators,
// templates of templates, lambdas, letters beyond ASCII, symbols with quotes and
// backslashes; in a file whose name has all of that; by threads with such names, and by a
// forked child. Prints the sizes that each made.
//
// build: -std=c++17 -fno-optimize-sibling-calls
#include "truth.h"

#include <functional>
#include <map>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline))

static void *volatile kept;

static NOINLINE void keep(size_t size)
{
    kept = malloc(size);
}

// clang-format off
#line 1 "/odd/a \"b\"\\c;d,e\té<f>&g\001.cc"
template <typename T> struct box { template <typename U> NOINLINE box &operator<<(U) { keep(7001); return *this; } };
struct comma { NOINLINE void operator,(int) { keep(7013); } };
NOINLINE void größe() { keep(7019); }
NOINLINE void quoted() __asm__("\"a $(b);c,d<e>&f'g\"");
NOINLINE void quoted() { keep(7027); }
template <typename F> NOINLINE void call(F f) { f(); kept = nullptr; }
// clang-format on

static void child()
{
    pid_t pid = fork();
    if (pid == 0) {
        keep(7057);
        _exit(0);
    }
    waitpid(pid, nullptr, 0);
}

int main()
{
    box<std::map<std::string, std::vector<int (*)(const char *)>>>() << std::function<bool(char)>();
    comma(), 1;
    größe();
    quoted();
    call([] { keep(7039); });
    std::thread first([] { prctl(PR_SET_NAME, "t\"\\,;\n\x01\xc3\xa9"), keep(7043); });
    first.join();
    std::thread second([] { prctl(PR_SET_NAME, "\xff\xfe<b>&"), keep(7069); });
    second.join();
    child();
    truth_add("{\"sizes\": [7001, 7013, 7019, 7027, 7039, 7043, 7069], \"child\": [7057]}\n");
    truth_tell(1);
    _exit(0);
}

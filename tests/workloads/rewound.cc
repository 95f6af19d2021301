/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rewound MODE: blocks made where the stack has just been left by other ways than
 * returning. Tells for each block the functions and lines that its stack must show,
 * innermost first, and at the end what the program itself has counted.
 *
 *     throw      thrown through frames, caught, thrown on, caught again
 *     longjmp    the same with setjmp() and longjmp()
 *     backtrace  the program looks at its own stack after allocating
 *     tls        thread_local objects that allocate when they come and go
 *     dlopen     a library that comes after a while
 *
 * build: -std=c++17 -fno-optimize-sibling-calls
 */
#include "truth.h"

#include <cstdint>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <string>

#define APART __attribute__((noinline, noclone))

struct line {
    const char *function;
    unsigned number;
};

static thread_local line lines[64];
static thread_local unsigned depth;

/* One function on the stack; gone however it is left, but by longjmp. */
struct here {
    unsigned at;
    explicit here(const char *function) : at(depth++)
    {
        lines[at].function = function;
    }
    ~here()
    {
        depth = at;
    }
};

#define HERE here me(__func__)
/* What follows happens in this line. */
#define LINE lines[me.at].number = __LINE__

static void tell(const char *point, void *block, size_t size)
{
    truth_add("{\"point\": \"%s\", \"address\": %lu, \"size\": %zu, \"lines\": [", point,
              (unsigned long)(uintptr_t)block, size);
    for (unsigned i = depth; i-- > 0;)
        truth_add("[\"%s\", %u]%s", lines[i].function, lines[i].number, i == 0 ? "]}\n" : ", ");
    truth_tell(1);
}

static void *volatile block;
static int caught;

/* ------------------------------------------------------------------ exceptions */

struct leaves {
    ~leaves()
    {
        caught += 100;
    }
};

APART static void throws(int n)
{
    HERE;
    LINE, block = malloc(7001);
    tell("before throwing", block, 7001);
    throw n;
}

APART static void passes(int n)
{
    HERE;
    leaves l;
    LINE, throws(n);
    truth_keep(&l);
}

APART static void throws_on(int n)
{
    HERE;
    try {
        LINE, passes(n);
    } catch (int) {
        LINE, block = malloc(7002);
        tell("caught once", block, 7002);
        throw;
    }
}

APART static void catches(int n)
{
    HERE;
    try {
        LINE, throws_on(n);
    } catch (int value) {
        caught += value;
        LINE, block = malloc(7003);
        tell("caught twice", block, 7003);
    }
    LINE, block = malloc(7004);
    tell("afterwards", block, 7004);
}

/* --------------------------------------------------------------------- longjmp */

static jmp_buf first, second;

APART static void jumps(int n)
{
    HERE;
    LINE, block = malloc(7001);
    tell("before jumping", block, 7001);
    longjmp(first, n);
}

APART static void passes_jump(int n)
{
    HERE;
    LINE, jumps(n);
}

APART static void jumps_on(int n)
{
    HERE;
    volatile unsigned mine = depth;
    int value = setjmp(first);
    if (value == 0) {
        LINE, passes_jump(n);
    }
    depth = mine;
    LINE, block = malloc(7002);
    tell("landed once", block, 7002);
    longjmp(second, value);
}

APART static void lands(int n)
{
    HERE;
    volatile unsigned mine = depth;
    int value = setjmp(second);
    if (value == 0) {
        LINE, jumps_on(n);
    }
    depth = mine;
    caught += value;
    LINE, block = malloc(7003);
    tell("landed twice", block, 7003);
    LINE, block = malloc(7004);
    tell("afterwards", block, 7004);
}

/* ------------------------------------------------------------------- backtrace */

static bool has_name(char **names, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strstr(names[i], name) != nullptr)
            return true;
    }
    return false;
}

APART static void looks(int n)
{
    HERE;
    void *frames[64];
    LINE, block = malloc(7001);
    tell("before looking", block, 7001);
    int count = backtrace(frames, 64);
    char **names = backtrace_symbols(frames, count);
    LINE, block = malloc(7002);
    tell("after looking", block, 7002);
    caught += names != nullptr && has_name(names, count, "/rewound(") ? n : 0;
    free(names);
}

APART static void is_looked_at(int n)
{
    HERE;
    LINE, looks(n);
}

/* ------------------------------------------------------------------------- TLS */

struct lives {
    void *mine;
    APART lives() : mine(malloc(7001))
    {
        caught++;
    }
    APART ~lives()
    {
        free(mine);
        block = malloc(7002);
    }
};

static void live()
{
    static thread_local lives alive;
    truth_keep(&alive);
}

static void *thread(void *argument)
{
    live();
    return argument;
}

static void tls()
{
    pthread_t other;
    live();
    for (int i = 0; i < 3; i++) {
        pthread_create(&other, nullptr, thread, nullptr);
        pthread_join(other, nullptr);
    }
}

/* ---------------------------------------------------------------------- dlopen */

static void library(const char *program)
{
    for (int i = 0; i < 5000; i++)
        free(truth_keep(malloc(64)));
    std::string path = std::string(program).substr(0, std::string(program).rfind('/')) + "/librewound.so";
    void *handle = dlopen(path.c_str(), RTLD_NOW);
    if (handle == nullptr)
        _exit(97);
    auto make = reinterpret_cast<void *(*)(size_t)>(dlsym(handle, "library_make"));
    auto line = reinterpret_cast<const unsigned *>(dlsym(handle, "library_line"));
    for (int i = 0; i < 3; i++)
        block = make(7001);
    truth_add("{\"line\": %u}\n", *line);
    truth_tell(1);
}

int main(int argc, char **argv)
{
    const std::string mode = argc > 1 ? argv[1] : "";
    HERE;
    for (int i = 1; i <= 3; i++) {
        if (mode == "throw") {
            LINE, catches(i);
        } else if (mode == "longjmp") {
            LINE, lands(i);
        } else if (mode == "backtrace") {
            LINE, is_looked_at(i);
        }
    }
    if (mode == "tls")
        tls();
    else if (mode == "dlopen")
        library(argv[0]);
    truth_add("{\"caught\": %d}\n", caught);
    truth_tell(1);
    return 0;
}

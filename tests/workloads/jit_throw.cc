/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * jit_throw: exceptions go through machine code made at run time, which libgcc can
 * only do if it was told of its unwind tables; and the same with backtrace().
 */
#include "machine.h"
#include "truth.h"

#include <execinfo.h>
#include <stdexcept>
#include <string>

static void thrower(int n, uintptr_t caller)
{
    (void)caller;
    truth_keep(malloc(7000 + (size_t)n));
    throw std::runtime_error("thrown through machine code " + std::to_string(n));
}

static unsigned depth_of(uintptr_t wanted)
{
    void *frames[64];
    int n = backtrace(frames, 64);
    for (int i = 0; i < n; i++) {
        if ((uintptr_t)frames[i] == wanted)
            return (unsigned)i;
    }
    return 0;
}

static unsigned depth;

static void tracer(int n, uintptr_t caller)
{
    truth_keep(malloc(7100 + (size_t)n));
    depth = depth_of(caller);
}

int main()
{
    uint8_t *page = machine_pages(1);
    machine_function *f = (machine_function *)(void *)page;
    std::string said;
    unsigned depths = 0;
    for (int i = 0; i < 30; i++) {
        enum machine_shape shape = i % 2 == 0 ? MACHINE_SP : MACHINE_FP;
        unsigned size = 16 * (unsigned)(i + 1);
        machine_describe(page + 2048, page, machine_make(page, shape, size), shape, size);
        __register_frame(page + 2048);
        try {
            f(thrower, i);
        } catch (const std::exception &e) {
            said += e.what();
            truth_keep(malloc(7200 + (size_t)i));
        }
        f(tracer, i);
        depths += depth;
        __deregister_frame(page + 2048);
    }
    truth_add("{\"said\": \"%s\", \"depths\": %u}\n", said.c_str(), depths);
    truth_tell(1);
    return 0;
}

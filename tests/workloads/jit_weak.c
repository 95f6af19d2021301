/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * jit_weak: refers to libgcc's functions weakly, as programs of old do, and is not
 * linked with libgcc_s. That comes only later, between announcing and withdrawing,
 * and would abort if it were told to forget what it was never told.
 */
#include "machine.h"
#include "truth.h"

#include <dlfcn.h>

#pragma weak __register_frame_info
#pragma weak __deregister_frame_info

static void below(int n, uintptr_t caller)
{
    (void)caller;
    truth_keep(malloc(7000 + (size_t)n));
}

int main(void)
{
    static uintptr_t object[8];
    uint8_t *page = machine_pages(1);
    machine_function *f;
    unsigned length = machine_make(page, MACHINE_SP, 64);
    machine_describe(page + 2048, page, length, MACHINE_SP, 64);
    *(void **)&f = page;
    int is_called = __register_frame_info != NULL, is_same = 1;
    if (is_called)
        __register_frame_info(page + 2048, object);
    f(below, 69);
    if (dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_GLOBAL) == NULL)
        return 96;
    if (is_called)
        is_same = __deregister_frame_info(page + 2048) == object;
    f(below, 70);
    truth_add("{\"called\": %d, \"same\": %d}\n", is_called, is_same);
    truth_tell(1);
    return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * shadow: a program keeps its own account of its stack.  Every function that
 * takes part notes the address it will return to; when a block is made, the
 * notes, innermost first, are the frames that its stack must have.
 *
 * Told are the module of each address and the offset in it, as the ELF file
 * counts; "" for an address that lies in no module.  A null in the list stands
 * for one or more frames that the program does not know (libc, the C++
 * runtime).  The innermost frame lies in grab() itself, whose bounds are told.
 */
#ifndef SHADOW_H
#define SHADOW_H

#include "truth.h"

#include <errno.h>
#include <link.h>
#include <stdint.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { SHADOW_MAX = 20000 };
struct shadow {
    uintptr_t at[SHADOW_MAX];
    unsigned depth;
};

#ifdef SHADOW_OWNER
__attribute__((visibility("default"))) __thread struct shadow shadow;
extern const char __start_grab_text[], __stop_grab_text[];

struct shadow_module {
    uintptr_t address, low, high, bias;
    const char *name;
};

static int shadow_look(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct shadow_module *m = (struct shadow_module *)argument;
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, high = low + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type != PT_LOAD || m->address < low || m->address >= high)
            continue;
        m->low = low;
        m->high = high;
        m->bias = info->dlpi_addr;
        m->name = info->dlpi_name[0] == '\0' ? program_invocation_name : info->dlpi_name;
        return 1;
    }
    return 0;
}

static inline void shadow_add(struct shadow_module *m, uintptr_t address)
{
    if (address == 0) {
        truth_add("null");
        return;
    }
    m->address = address;
    if ((address < m->low || address >= m->high) && dl_iterate_phdr(shadow_look, m) == 0) {
        truth_add("[\"\", %lu]", (unsigned long)address);
        return;
    }
    const char *slash = strrchr(m->name, '/');
    truth_add("[\"%s\", %lu]", slash == NULL ? m->name : slash + 1, (unsigned long)(address - m->bias));
}

/* Makes a block that nobody releases and tells whose it is. */
__attribute__((noinline, noclone, section("grab_text"))) static void *grab(const char *name, size_t size)
{
    shadow.at[shadow.depth++] = (uintptr_t)__builtin_return_address(0);
    void *block = truth_keep(malloc(size));
    struct shadow_module m = {(uintptr_t)__start_grab_text, 0, 0, 0, NULL};
    dl_iterate_phdr(shadow_look, &m);
    truth_add(
        "{\"case\": \"%s\", \"size\": %zu, \"address\": %lu, \"low\": %lu, \"high\": %lu, \"frames\": [",
        name, size, (unsigned long)(uintptr_t)block, (unsigned long)((uintptr_t)__start_grab_text - m.bias),
        (unsigned long)((uintptr_t)__stop_grab_text - m.bias));
    for (unsigned i = shadow.depth; i-- > 0;) {
        shadow_add(&m, shadow.at[i]);
        truth_add("%s", i == 0 ? "]}\n" : ", ");
    }
    truth_tell(1);
    shadow.depth--;
    return block;
}
#else
extern __thread struct shadow shadow;
#endif

#define ENTER() (void)(shadow.at[shadow.depth++] = (uintptr_t)__builtin_return_address(0))
#define ENTER_UNKNOWN() (void)(shadow.at[shadow.depth++] = 0)
#define LEAVE() (void)(shadow.depth--)

#endif

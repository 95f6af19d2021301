/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cxx: see cxx.h.
 */
#include "probe/cxx.h"

#include "probe/life.h"
#include "probe/module.h"
#include "probe/real.h"

#include <link.h>

uint32_t cxx_kind;

static bool cxx_begins_with(const char *text, const char *prefix)
{
    for (; *prefix != '\0'; prefix++, text++) {
        if (*text != *prefix)
            return false;
    }
    return true;
}

/* Is this the C++ library's own module? */
static bool cxx_is_library(void *pc)
{
    struct module_object o;
    if (real.dl_find_object == NULL || real.dl_find_object(pc, &o) != 0)
        return true;
    const char *path = ((const struct link_map *)o.link_map)->l_name, *base = path;
    for (; *path != '\0'; path++) {
        if (*path == '/')
            base = path + 1;
    }
    return cxx_begins_with(base, "libstdc++.so") || cxx_begins_with(base, "libc++.so") ||
           cxx_begins_with(base, "libc++abi.so");
}

bool cxx_find(void)
{
    if (real.malloc == NULL && !life_begin())
        return true; /* served by the early pool */
    void *next = real_find_name("_Znwm");
    bool is_standard = real.is_first && (next == NULL || cxx_is_library(next) ||
                                         real_same_module(next, (void *)(uintptr_t)real.malloc));
    cxx_kind = is_standard ? CXX_STANDARD : CXX_CUSTOM;
    return is_standard;
}

void *cxx_operator(const char *name, void *pc)
{
    void *next = real_find_name(name);
    struct module_object o;
    if (next == NULL && real.dl_find_object != NULL && real.dl_find_object(pc, &o) == 0)
        next = real_find_in(o.link_map, name); /* a plugin with a C++ library of its own */
    return next;
}

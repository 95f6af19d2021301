/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * real: see real.h. Runs once, during birth.
 *
 * Birth may happen inside another allocator, under its lock (it maps memory, and
 * our mmap hook is the first of us to be called). So nothing here may allocate:
 * every name that is looked up exists, since dlsym allocates for those it does
 * not find.
 */
#include "probe/real.h"

#include "probe/first.h"
#include "probe/module.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>

/* The versions that every glibc has: newer ones moved them into libc.so.6. */
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
__asm__(".symver dlerror, dlerror@GLIBC_2.2.5");

static const char never_single;

void *real_find_name(const char *name)
{
    void *next = dlsym(RTLD_NEXT, name);
    if (next == NULL)
        dlerror(); /* this must not be what the program's own dlerror() tells */
    return next;
}

void *real_find_in(void *link_map, const char *name)
{
    return dlsym(link_map, name);
}

bool real_same_module(const void *a, const void *b)
{
    struct module_object x, y;
    if (real.dl_find_object == NULL)
        return false;
    return real.dl_find_object((void *)(uintptr_t)a, &x) == 0 &&
           real.dl_find_object((void *)(uintptr_t)b, &y) == 0 && x.link_map == y.link_map;
}

bool real_is_ours(uint64_t pc)
{
    static uint64_t start, end;
    struct module_object o;
    if (end == 0 && real.dl_find_object((void *)(uintptr_t)&real_is_ours, &o) == 0) {
        start = (uint64_t)(uintptr_t)o.map_start;
        end = (uint64_t)(uintptr_t)o.map_end;
    }
    return pc >= start && pc < end;
}

const struct real *real_look(void)
{
    /* Several threads may be here: all of them find the same. */
#define X(field, name, result, arguments)                                     \
    {                                                                         \
        void *next = real_find_name(name);                                    \
        __atomic_store_n((void **)&real_found.field, next, __ATOMIC_RELAXED); \
    }
    REAL_FUNCTIONS(X)
#undef X
    return &real_found;
}

void real_find(void)
{
    void *const *const *stack_end = dlsym(RTLD_DEFAULT, "__libc_stack_end");
    if (stack_end != NULL)
        real.stack_end = *stack_end;
    const char *single = dlsym(RTLD_DEFAULT, "__libc_single_threaded");
    real.single_threaded = single != NULL ? single : &never_single;
    *(void **)&real.dl_find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
    (void)real_look();
    real.is_glibc =
        real_same_module((void *)(uintptr_t)real_found.malloc, (void *)(uintptr_t)gnu_get_libc_version);
    real.has_usable_size = real_found.malloc_usable_size != NULL &&
                           real_same_module((void *)(uintptr_t)real_found.malloc,
                                            (void *)(uintptr_t)real_found.malloc_usable_size);
    *(void **)&real.program_free = dlsym(RTLD_DEFAULT, "free");
    real.is_first = first_is_ours();
    const void *recorder = dlsym(RTLD_DEFAULT, "heapwake_flush");
    real.is_second = recorder != NULL && !real_same_module(recorder, (void *)(uintptr_t)real_find);
}

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

#include "probe/module.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>

/* The versions that every glibc has: newer ones moved them into libc.so.6. */
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
__asm__(".symver dlerror, dlerror@GLIBC_2.2.5");

struct real real;

/* What has been found, before it takes effect. */
static struct real found;

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

const struct real *real_look(void)
{
    /* Several threads may be here: all of them find the same. */
#define X(field, name, result, arguments)                                \
    {                                                                    \
        void *next = real_find_name(name);                               \
        __atomic_store_n((void **)&found.field, next, __ATOMIC_RELAXED); \
    }
    REAL_FUNCTIONS(X)
#undef X
    return &found;
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
        real_same_module((void *)(uintptr_t)found.malloc, (void *)(uintptr_t)gnu_get_libc_version);
    *(void **)&real.program_free = dlsym(RTLD_DEFAULT, "free");
    /* By module: our own `malloc` names whichever definition comes first. */
    real.is_first = real_same_module(dlsym(RTLD_DEFAULT, "malloc"), (void *)(uintptr_t)real_find);
    const void *recorder = dlsym(RTLD_DEFAULT, "heapwake_flush");
    real.is_second = recorder != NULL && !real_same_module(recorder, (void *)(uintptr_t)real_find);
}

/* HEAPWAKE_ZERO_MEMORY: what hooks call instead. All that can be used of a block is zero, since a
 * realloc may hand it out later. */
static size_t real_usable(void *block, size_t size)
{
    return found.malloc_usable_size == NULL ? size : found.malloc_usable_size(block);
}

static void *real_zero(void *block, size_t from, size_t size)
{
    size_t usable = block == NULL ? 0 : real_usable(block, size);
    if (from < usable)
        __builtin_memset((unsigned char *)block + from, 0, usable - from);
    return block;
}

static void *real_zero_malloc(size_t size)
{
    return real_zero(found.calloc(1, size), size, size);
}

static void *real_zero_calloc(size_t count, size_t size)
{
    return real_zero(found.calloc(count, size), count * size, count * size);
}

static void *real_zero_realloc(void *old, size_t size)
{
    size_t had = old == NULL ? 0 : real_usable(old, size);
    return real_zero(found.realloc(old, size), had, size);
}

static void *real_zero_memalign(size_t alignment, size_t size)
{
    return real_zero(found.memalign(alignment, size), 0, size);
}

static void *real_zero_aligned_alloc(size_t alignment, size_t size)
{
    return real_zero(found.aligned_alloc(alignment, size), 0, size);
}

static int real_zero_posix_memalign(void **block, size_t alignment, size_t size)
{
    int result = found.posix_memalign(block, alignment, size);
    if (result == 0)
        (void)real_zero(*block, 0, size);
    return result;
}

static void *real_zero_valloc(size_t size)
{
    return real_zero(found.valloc(size), 0, size);
}

static void *real_zero_pvalloc(size_t size)
{
    return real_zero(found.pvalloc(size), 0, size);
}

static struct real chosen;

void real_choose(bool zero_memory)
{
    chosen = found;
#define ZERO(field)          \
    if (found.field != NULL) \
        chosen.field = real_zero_##field;
    if (zero_memory) {
        ZERO(malloc)
        ZERO(calloc)
        ZERO(realloc)
        ZERO(memalign)
        ZERO(aligned_alloc)
        ZERO(posix_memalign)
        ZERO(valloc)
        ZERO(pvalloc)
    }
#undef ZERO
}

void real_publish(void)
{
#define X(field, name, result, arguments)            \
    if ((void *)&real.field != (void *)&real.malloc) \
        __atomic_store_n(&real.field, chosen.field, __ATOMIC_RELEASE);
    REAL_FUNCTIONS(X)
#undef X
}

void real_publish_malloc(void)
{
    __atomic_store_n(&real.malloc, chosen.malloc, __ATOMIC_RELEASE);
}

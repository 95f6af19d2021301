/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * real_static: real.h for programs that are linked statically, in place of
 * real.c. Nothing is looked up: the linker, told to --wrap a name, gives us the
 * real function as __real_NAME.
 *
 * There is one module, the program, and its parts are where the linker says.
 * Works with any libc: what only glibc has is weak, and there is another way.
 *
 * An allocator other than glibc's may call the public names itself (musl's
 * calloc calls malloc), and these calls come to us too. Its compound functions
 * are therefore made here of the simple ones.
 */
#include "probe/real.h"

#include "probe/environment.h"
#include "probe/memory.h"
#include "probe/module.h"
#include "probe/rebind.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <unistd.h>

static const char never_single;

/* Weak, so that one sentence comes where functions are not wrapped; real_wrapped.c asks for them all. */
#define X(field, name, result, arguments) extern __typeof__(*real.field) __real_##field __attribute__((weak));
REAL_FUNCTIONS(X)
#undef X
/* glibc's malloc refers to it: so it is there with that malloc, and with no other. */
extern char __libc_single_threaded __attribute__((weak));

extern long __real_syscall(long number, ...) __attribute__((weak));

/* From heapwake.ld, and never called. Where it is missing the linker says its name. */
extern void real_missing(void) __asm__("libheapwake.a_needs_the_options_of_heapwake.ld")
    __attribute__((visibility("hidden")));

/* From the linker: the program, and our own code in it (scripts/make-static). */
extern const char __ehdr_start[] __attribute__((weak, visibility("hidden")));
extern const char _end[] __attribute__((weak, visibility("hidden")));
extern const char __start_heapwake_text[] __attribute__((weak, visibility("hidden")));
extern const char __stop_heapwake_text[] __attribute__((weak, visibility("hidden")));

static struct link_map real_program = {.l_name = (char *)""};

void *real_find_name(const char *name)
{
    static const char wanted[] = "syscall"; /* the one that is asked for by name */
    for (unsigned i = 0; i < sizeof wanted; i++) {
        if (name[i] != wanted[i])
            return NULL;
    }
    return (void *)(uintptr_t)&__real_syscall;
}

void *real_find_in(void *link_map, const char *name)
{
    (void)link_map;
    (void)name;
    return NULL;
}

bool real_same_module(const void *a, const void *b)
{
    (void)a;
    (void)b;
    return true;
}

bool real_is_ours(uint64_t pc)
{
    return pc >= (uint64_t)(uintptr_t)__start_heapwake_text && pc < (uint64_t)(uintptr_t)__stop_heapwake_text;
}

/* ------------------------------------------------------------------ the program */

/* As _dl_find_object. */
static int real_find_object(void *pc, void *result)
{
    struct module_object *o = result;
    const Elf64_Phdr *list = (const void *)(uintptr_t)environment_auxiliary(AT_PHDR);
    uint64_t count = environment_auxiliary(AT_PHNUM), at = (uint64_t)(uintptr_t)pc;
    uint64_t start = (uint64_t)(uintptr_t)__ehdr_start, end = (uint64_t)(uintptr_t)_end;
    if (list == NULL || at < start || at >= end)
        return -1;
    o->eh_frame = NULL;
    for (uint64_t i = 0; i < count; i++) {
        if (list[i].p_type == PT_LOAD && list[i].p_offset == 0)
            real_program.l_addr = start - list[i].p_vaddr;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (list[i].p_type == PT_GNU_EH_FRAME)
            o->eh_frame = (void *)(uintptr_t)(real_program.l_addr + list[i].p_vaddr);
    }
    o->map_start = (void *)(uintptr_t)start;
    o->map_end = (void *)(uintptr_t)end;
    o->link_map = &real_program;
    return o->eh_frame == NULL ? -1 : 0;
}

/* argc stands before the arguments, these before the environment. (In a static program
 * glibc's __libc_stack_end is somewhere near it.) Nobody can have set a variable yet: that
 * takes memory. */
static void *const *real_stack_end(void)
{
    void *const *at = (void *const *)environ;
    if (at == NULL)
        return NULL;
    at -= 2; /* the last argument; a NULL stands between */
    for (intptr_t count = 0; count < 1 << 20; count++, at--) {
        if ((intptr_t)*at == count)
            return at;
    }
    return NULL;
}

/* ------------------------------------------------- compound functions, not glibc's */

static void *real_calloc(size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = __real_malloc(total);
    if (block != NULL)
        memory_zero(block, total);
    return block;
}

static void *real_memalign(size_t alignment, size_t size)
{
    return __real_aligned_alloc(alignment, size);
}

static int real_posix_memalign(void **block, size_t alignment, size_t size)
{
    int saved = errno;
    if (alignment < sizeof(void *))
        return EINVAL;
    void *made = __real_aligned_alloc(alignment, size);
    int result = made == NULL ? errno : 0;
    errno = saved;
    if (made != NULL)
        *block = made;
    return result;
}

static void *real_valloc(size_t size)
{
    return __real_aligned_alloc(4096, size);
}

const struct real *real_look(void)
{
    struct real all = {0};
#define X(field, name, result, arguments) all.field = __real_##field;
    REAL_FUNCTIONS(X)
#undef X
    if (&__libc_single_threaded == NULL) {
        all.calloc = real_calloc;
        all.memalign = real_memalign;
        all.posix_memalign = real_posix_memalign;
        all.valloc = all.pvalloc = real_valloc;
    }
    real_found = all;
    return &real_found;
}

/* Its linker has bound all names. */
void rebind_open(bool is_zeroed)
{
    (void)is_zeroed;
}

void real_find(void)
{
    void (*const volatile is_linked)(void) = real_missing;
    (void)is_linked;
    (void)real_look();
    real.stack_end = real_stack_end();
    real.single_threaded = &__libc_single_threaded != NULL ? &__libc_single_threaded : &never_single;
    real.dl_find_object = real_find_object;
    real.is_glibc = &__libc_single_threaded != NULL;
    real.has_usable_size = real_found.malloc_usable_size != NULL;
    real.program_free = __real_free;
    real.is_first = true;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * real: the functions that our hooks stand in front of. real.c finds them through
 * the loader, real_static.c is for programs that are linked statically; the build
 * takes one of them.
 *
 * One line a function. `real.x` is what the program would have called without
 * us: the next definition after ours in the loader's order, be it glibc's, a
 * preloaded allocator's or the program's own library. NULL until life_birth
 * has run, and for ever when nobody defines it (optional ones).
 */
#ifndef HW_PROBE_REAL_H
#define HW_PROBE_REAL_H

#include "probe/inner.h"

#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef void (*real_handler)(int);

#define REAL_FUNCTIONS(X)                                                                                   \
    X(malloc, "malloc", void *, (size_t))                                                                   \
    X(calloc, "calloc", void *, (size_t, size_t))                                                           \
    X(realloc, "realloc", void *, (void *, size_t))                                                         \
    X(reallocarray, "reallocarray", void *, (void *, size_t, size_t))                                       \
    X(free, "free", void, (void *))                                                                         \
    X(memalign, "memalign", void *, (size_t, size_t))                                                       \
    X(aligned_alloc, "aligned_alloc", void *, (size_t, size_t))                                             \
    X(posix_memalign, "posix_memalign", int, (void **, size_t, size_t))                                     \
    X(valloc, "valloc", void *, (size_t))                                                                   \
    X(pvalloc, "pvalloc", void *, (size_t))                                                                 \
    X(malloc_usable_size, "malloc_usable_size", size_t, (void *))                                           \
    X(mmap, "mmap", void *, (void *, size_t, int, int, int, off_t))                                         \
    X(munmap, "munmap", int, (void *, size_t))                                                              \
    X(mremap, "mremap", void *, (void *, size_t, size_t, int, ...))                                         \
    X(brk, "brk", int, (void *))                                                                            \
    X(sbrk, "sbrk", void *, (intptr_t))                                                                     \
    X(prctl, "prctl", int, (int, unsigned long, unsigned long, unsigned long, unsigned long))               \
    X(pthread_setname_np, "pthread_setname_np", int, (unsigned long, const char *))                         \
    X(dlopen, "dlopen", void *, (const char *, int))                                                        \
    X(dlclose, "dlclose", int, (void *))                                                                    \
    X(sigaction, "sigaction", int, (int, const struct sigaction *, struct sigaction *))                     \
    X(signal, "signal", real_handler, (int, real_handler))                                                  \
    X(_Exit, "_Exit", void, (int))                                                                          \
    X(abort, "abort", void, (void))                                                                         \
    X(fork, "fork", pid_t, (void))                                                                          \
    X(_Fork, "_Fork", pid_t, (void))                                                                        \
    X(execve, "execve", int, (const char *, char *const *, char *const *))                                  \
    X(execvpe, "execvpe", int, (const char *, char *const *, char *const *))                                \
    X(fexecve, "fexecve", int, (int, char *const *, char *const *))                                         \
    X(execveat, "execveat", int, (int, const char *, char *const *, char *const *, int))                    \
    X(posix_spawn, "posix_spawn", int,                                                                      \
      (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *, \
       char *const *))                                                                                      \
    X(posix_spawnp, "posix_spawnp", int,                                                                    \
      (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *, \
       char *const *))

struct real {
#define X(field, name, result, arguments) result(*field) arguments;
    REAL_FUNCTIONS(X)
#undef X
    /* glibc's flag, cleared by the thread that makes the second one; a constant 0 elsewhere. */
    const char *single_threaded;
    /* The loader's lock-free answer to "which module is this?" (glibc 2.35), or NULL. */
    int (*dl_find_object)(void *pc, void *result);
    /* The program's initial stack: argc, argv, environment, auxiliary vector. */
    void *const *stack_end;
    /* The program's calls to malloc come to us. Otherwise the program, or a library
     * loaded before us, has an allocator of its own, which we must not get around. */
    bool is_first;
    bool is_second;               /* another copy of this library stands before us, and records */
    void (*program_free)(void *); /* the free that the program's own calls reach */
    /* real.malloc is glibc's own: the size of a block stands in the word before it. */
    bool is_glibc;
    bool
        has_usable_size; /* of the very allocator that malloc belongs to; another's must not see its blocks */
};

INNER struct real real;
INNER struct real real_found; /* before it takes effect */

/* Finds everything; may call back into our hooks (dlsym allocates), which then
 * serve from the early pool. The functions stay NULL until real_publish, and
 * malloc until all else is ready: nobody can free what he could not have got. */
void real_find(void);
/* Between the two. zero_memory: what the program gets is all zero (HEAPWAKE_ZERO_MEMORY). */
void real_choose(bool zero_memory);
void real_publish(void);
void real_publish_malloc(void);

/* Finds the functions at any other time, for a caller who cannot wait until they
 * are published: the same answers. stack_end and what follows it are not filled in. */
const struct real *real_look(void);

/* The definition of `name` that comes after ours, or NULL. */
void *real_find_name(const char *name);

/* The definition of `name` in a module or what it depends on, or NULL. */
void *real_find_in(void *link_map, const char *name);

/* Is pc in our own code? */
bool real_is_ours(uint64_t pc);

/* Do two code addresses lie in the same loaded module? */
bool real_same_module(const void *a, const void *b);

#endif

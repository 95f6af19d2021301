/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * arena_handles WHAT: uses an allocator by handles, as far as it is there, and then goes on as ever.
 *
 *     heap     mimalloc's mi_heap_*: blocks of 5003 bytes, which mi_free takes back
 *     destroy  jemalloc: an arena with blocks of 5003 bytes is destroyed; mib: by the number of that call
 *     batch    jemalloc's experimental.batch_alloc of 5120 bytes
 *     plain    none of these; fork: as heap, and a child frees
 *
 * Blocks of 7001 bytes are made and freed before and after.
 */
#include "truth.h"

#include <dlfcn.h>
#include <sys/wait.h>

enum { COUNT = 100 };

static void *(*heap_new)(void), *(*heap_malloc)(void *, size_t), *(*make)(size_t, int);
static void (*heap_free)(void *);
static int (*control)(const char *, void *, size_t *, void *, size_t);
static int (*to_mib)(const char *, size_t *, size_t *),
    (*by_mib)(const size_t *, size_t, void *, size_t *, void *, size_t);
static void *blocks[COUNT];

struct batch {
    void **blocks;
    size_t count, size;
    int flags;
};

static void plain(void)
{
    for (unsigned i = 0; i < COUNT; i++)
        blocks[i] = malloc(7001);
    for (unsigned i = 0; i < COUNT; i++)
        free(blocks[i]);
}

static int heap(int forks)
{
    void *handle = heap_new();
    for (unsigned i = 0; i < COUNT; i++)
        blocks[i] = heap_malloc(handle, 5003);
    if (forks && fork() != 0) {
        wait(NULL);
        return 0;
    }
    for (unsigned i = 0; i < COUNT; i++)
        heap_free(blocks[i]);
    return 0;
}

static int destroy(int is_mib)
{
    unsigned arena = 0;
    size_t length = sizeof arena, mib[3], mib_length = 3;
    char name[64];
    if (control("arenas.create", &arena, &length, NULL, 0) != 0)
        return 1;
    for (unsigned i = 0; i < COUNT; i++)
        blocks[i] = make(5003, (int)(arena + 1) << 20 | 1 << 8 /* MALLOCX_ARENA, MALLOCX_TCACHE_NONE */);
    snprintf(name, sizeof name, "arena.%u.destroy", arena);
    if (!is_mib)
        return control(name, NULL, NULL, NULL, 0);
    if (to_mib("arena.0.destroy", mib, &mib_length) != 0)
        return 1;
    mib[1] = arena;
    return by_mib(mib, mib_length, NULL, NULL, NULL, 0);
}

static int batch(void)
{
    struct batch b = {blocks, COUNT, 5120, 0};
    size_t made = 0, length = sizeof made;
    if (control("experimental.batch_alloc", &made, &length, &b, sizeof b) != 0)
        return 1;
    for (size_t i = 0; i < made; i++)
        free(blocks[i]);
    return made != COUNT;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "plain";
    *(void **)&heap_new = dlsym(RTLD_DEFAULT, "mi_heap_new");
    *(void **)&heap_malloc = dlsym(RTLD_DEFAULT, "mi_heap_malloc");
    *(void **)&heap_free = dlsym(RTLD_DEFAULT, "mi_free");
    *(void **)&make = dlsym(RTLD_DEFAULT, "mallocx");
    *(void **)&control = dlsym(RTLD_DEFAULT, "mallctl");
    *(void **)&to_mib = dlsym(RTLD_DEFAULT, "mallctlnametomib");
    *(void **)&by_mib = dlsym(RTLD_DEFAULT, "mallctlbymib");
    plain();
    int result = what[0] == 'h' || what[0] == 'f'   ? heap(what[0] == 'f')
                 : what[0] == 'd' || what[0] == 'm' ? destroy(what[0] == 'm')
                 : what[0] == 'b'                   ? batch()
                                                    : 0;
    plain();
    truth_add("{\"result\": %d}\n", result);
    truth_tell(1);
    return 0;
}

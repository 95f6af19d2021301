/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * memory: see memory.h.
 */
#include "probe/memory.h"

#include "probe/life.h"

#include <stdbool.h>

enum {
    MEMORY_PAGE = 4096,
    MEMORY_STORE = 32 << 20, /* four thousand threads that are yet to come, or some very deep stacks */
};

static unsigned char *memory_store;
static size_t memory_store_used;

static void *memory_map(size_t length)
{
    long at =
        sys_mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return sys_failed(at) ? NULL : (void *)at;
}

void memory_give_back(void *pages, size_t length)
{
    if (!life_sandbox)
        (void)sys_munmap(pages, length);
}

void memory_lay_in(void)
{
    unsigned char *none = NULL;
    if (life_sandbox || __atomic_load_n(&memory_store, __ATOMIC_ACQUIRE) != NULL)
        return;
    unsigned char *store = memory_map(MEMORY_STORE);
    /* Another thread, or a handler, that was faster may be in the sandbox already: then these addresses stay unused. */
    if (store != NULL)
        (void)__atomic_compare_exchange_n(&memory_store, &none, store, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE);
}

/* Out of what was laid in. */
static void *memory_take(size_t length)
{
    unsigned char *store = __atomic_load_n(&memory_store, __ATOMIC_ACQUIRE);
    size_t used = __atomic_load_n(&memory_store_used, __ATOMIC_RELAXED), rounded;
    rounded = (length + MEMORY_PAGE - 1) & ~(size_t)(MEMORY_PAGE - 1);
    do {
        if (store == NULL || rounded > MEMORY_STORE - used)
            return NULL;
    } while (!__atomic_compare_exchange_n(&memory_store_used, &used, used + rounded, true, __ATOMIC_ACQ_REL,
                                          __ATOMIC_RELAXED));
    return store + used;
}

void *memory_pages(size_t length)
{
    return life_sandbox ? memory_take(length) : memory_map(length);
}

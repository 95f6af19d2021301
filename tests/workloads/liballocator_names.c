/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * liballocator_names: calls what jemalloc, tcmalloc and mimalloc have under names of their own, as far as these are there:
 * all references are weak, as in programs that find out so which allocator they run with.  Each block has a size of its own.
 * Tells which names are there, by reference and by dlsym, and of each block what it is.
 *
 *     table   through pointers that the loader filled in
 *     code    by calls as the compiler makes them, of some
 *     dlsym   through dlsym(RTLD_DEFAULT), next: through dlsym(RTLD_NEXT)
 *
 * It is a library so that the loader looks for these names: a linker that does not find them settles most of them by itself.
 */
#include "truth.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdint.h>

/* One line a name: how the block is recorded, or how it is released; and the arguments: s size, n a seventh of it, 7 seven,
 * a 64 (an alignment), z zero, p the block, & where the block's address is put, t a text of size bytes, c one of size - 1. */
#define JEMALLOC(X)              \
    X(mallocx, "malloc", "sz")   \
    X(rallocx, "realloc", "psz") \
    X(xallocx, "resize", "pszz") \
    X(dallocx, "free", "pz")     \
    X(sdallocx, "free", "psz")
#define TCMALLOC(X)                                            \
    X(tc_malloc, "malloc", "s")                                \
    X(tc_malloc_skip_new_handler, "malloc", "s")               \
    X(tc_calloc, "calloc", "7n")                               \
    X(tc_realloc, "realloc", "ps")                             \
    X(tc_memalign, "memalign", "as")                           \
    X(tc_posix_memalign, "posix_memalign", "&as")              \
    X(tc_valloc, "valloc", "s")                                \
    X(tc_pvalloc, "pvalloc", "s")                              \
    X(tc_new, "new", "s")                                      \
    X(tc_new_nothrow, "new", "sz")                             \
    X(tc_newarray, "new[]", "s")                               \
    X(tc_newarray_nothrow, "new[]", "sz")                      \
    X(tc_new_aligned, "new-aligned", "sa")                     \
    X(tc_new_aligned_nothrow, "new-aligned", "saz")            \
    X(tc_newarray_aligned, "new[]-aligned", "sa")              \
    X(tc_newarray_aligned_nothrow, "new[]-aligned", "saz")     \
    X(tc_free, "free", "p")                                    \
    X(tc_cfree, "free", "p")                                   \
    X(tc_free_sized, "free", "ps")                             \
    X(tc_delete, "delete", "p")                                \
    X(tc_delete_sized, "delete", "ps")                         \
    X(tc_delete_nothrow, "delete", "pz")                       \
    X(tc_deletearray, "delete[]", "p")                         \
    X(tc_deletearray_sized, "delete[]", "ps")                  \
    X(tc_deletearray_nothrow, "delete[]", "pz")                \
    X(tc_delete_aligned, "delete-aligned", "pa")               \
    X(tc_delete_sized_aligned, "delete-aligned", "psa")        \
    X(tc_delete_aligned_nothrow, "delete-aligned", "paz")      \
    X(tc_deletearray_aligned, "delete[]-aligned", "pa")        \
    X(tc_deletearray_sized_aligned, "delete[]-aligned", "psa") \
    X(tc_deletearray_aligned_nothrow, "delete[]-aligned", "paz")
#define MIMALLOC(X)                                   \
    X(mi_malloc, "malloc", "s")                       \
    X(mi_zalloc, "calloc", "s")                       \
    X(mi_calloc, "calloc", "7n")                      \
    X(mi_mallocn, "malloc", "7n")                     \
    X(mi_malloc_small, "malloc", "S")                 \
    X(mi_zalloc_small, "calloc", "S")                 \
    X(mi_malloc_aligned, "memalign", "sa")            \
    X(mi_malloc_aligned_at, "memalign", "saz")        \
    X(mi_zalloc_aligned, "memalign", "sa")            \
    X(mi_zalloc_aligned_at, "memalign", "saz")        \
    X(mi_calloc_aligned, "memalign", "7na")           \
    X(mi_calloc_aligned_at, "memalign", "7naz")       \
    X(mi_memalign, "memalign", "as")                  \
    X(mi_aligned_alloc, "aligned_alloc", "as")        \
    X(mi_posix_memalign, "posix_memalign", "&as")     \
    X(mi_valloc, "valloc", "s")                       \
    X(mi_pvalloc, "pvalloc", "s")                     \
    X(mi_new, "malloc", "s")                          \
    X(mi_new_n, "malloc", "7n")                       \
    X(mi_new_nothrow, "malloc", "s")                  \
    X(mi_new_aligned, "memalign", "sa")               \
    X(mi_new_aligned_nothrow, "memalign", "sa")       \
    X(mi_strdup, "malloc", "t")                       \
    X(mi_strndup, "malloc", "tc")                     \
    X(mi_mbsdup, "malloc", "t")                       \
    X(mi_dupenv_s, "malloc", "&ze")                   \
    X(mi_realloc, "realloc", "ps")                    \
    X(mi_reallocf, "realloc", "ps")                   \
    X(mi_reallocn, "realloc", "p7n")                  \
    X(mi_reallocarray, "realloc", "p7n")              \
    X(mi_rezalloc, "realloc", "ps")                   \
    X(mi_recalloc, "realloc", "p7n")                  \
    X(mi_realloc_aligned, "realloc", "psa")           \
    X(mi_realloc_aligned_at, "realloc", "psaz")       \
    X(mi_rezalloc_aligned, "realloc", "psa")          \
    X(mi_rezalloc_aligned_at, "realloc", "psaz")      \
    X(mi_recalloc_aligned, "realloc", "p7na")         \
    X(mi_recalloc_aligned_at, "realloc", "p7naz")     \
    X(mi_aligned_recalloc, "realloc", "p7na")         \
    X(mi_aligned_offset_recalloc, "realloc", "p7naz") \
    X(mi_new_realloc, "realloc", "ps")                \
    X(mi_new_reallocn, "realloc", "p7n")              \
    X(mi_reallocarr, "reallocarr", "&7n")             \
    X(mi_expand, "expand", "ps")                      \
    X(mi_free, "free", "p")                           \
    X(mi_cfree, "free", "p")                          \
    X(mi_free_size, "free", "ps")                     \
    X(mi_free_aligned, "free", "pa")                  \
    X(mi_free_size_aligned, "free", "psa")

typedef uintptr_t function(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

#define X(name, kind, arguments) extern function name __attribute__((weak));
JEMALLOC(X)
TCMALLOC(X)
MIMALLOC(X)
#undef X

struct entry {
    const char *name;
    function *call;
    const char *kind;
    const char *arguments;
};

#define X(name, kind, arguments) {#name, name, kind, arguments},
static struct entry table[] = {JEMALLOC(X) TCMALLOC(X) MIMALLOC(X)};
#undef X
enum { COUNT = sizeof table / sizeof *table };

static const char *comma = "", *caller;
static char text[1 << 16];
static size_t next_size = 7007;

static size_t new_size(void)
{
    next_size += 7 * 16;
    return next_size;
}

static uintptr_t call(const struct entry *e, void *block, size_t size)
{
    uintptr_t given[5] = {0};
    memset(text, 'x', size);
    text[size - 1] = '\0';
    for (unsigned i = 0; e->arguments[i] != '\0'; i++) {
        switch (e->arguments[i]) {
        case 's':
        case 'S':
            given[i] = size;
            break;
        case 'n':
            given[i] = size / 7;
            break;
        case '7':
            given[i] = 7;
            break;
        case 'a':
            given[i] = 64;
            break;
        case 'p':
            given[i] = (uintptr_t)block;
            break;
        case '&':
            given[i] = (uintptr_t)block;
            break;
        case 't':
            given[i] = (uintptr_t)text;
            break;
        case 'c':
            given[i] = size - 1;
            break;
        case 'e':
            setenv("ALLOCATOR_NAMES", text, 1);
            given[i] = (uintptr_t)"ALLOCATOR_NAMES";
            break;
        default:
            break;
        }
    }
    return e->call(given[0], given[1], given[2], given[3], given[4]);
}

static int is_zero(const char *block, size_t size)
{
    size_t i = 0;
    while (i < size && block[i] == 0)
        i++;
    return i == size;
}

static void tell(const char *name, const char *kind, size_t size, const void *block, int lives)
{
    if (block == NULL) {
        truth_add("%s{\"name\": \"%s\", \"failed\": true}", comma, name);
    } else {
        truth_add("%s{\"name\": \"%s\", \"kind\": \"%s\", \"size\": %zu, \"address\": %lu, \"lives\": %s, "
                  "\"zero\": %s}",
                  comma, name, kind, size, (unsigned long)(uintptr_t)block, lives ? "true" : "false",
                  is_zero(block, size) ? "true" : "false");
        memset(truth_keep((void *)(uintptr_t)block), 0x5a, size);
    }
    comma = ",\n ";
}

static const struct entry *find(const char *family, const char *kind)
{
    for (unsigned i = 0; i < COUNT; i++) {
        if (table[i].call != NULL && strncmp(table[i].name, family, strlen(family)) == 0 &&
            strcmp(table[i].kind, kind) == 0)
            return &table[i];
    }
    return NULL;
}

/* What releases this kind of block in the family of the function. */
static const struct entry *releaser(const struct entry *e)
{
    static const char *const pairs[][2] = {{"new", "delete"},
                                           {"new[]", "delete[]"},
                                           {"new-aligned", "delete-aligned"},
                                           {"new[]-aligned", "delete[]-aligned"}};
    char family[4] = {e->name[0], e->name[1], e->name[2], 0};
    for (unsigned i = 0; i < 4; i++) {
        if (strcmp(e->kind, pairs[i][0]) == 0)
            return find(family, pairs[i][1]);
    }
    const struct entry *found = strchr(e->name, '_') != NULL ? find(family, "free") : find("d", "free");
    return found;
}

static const struct entry *maker(const struct entry *e)
{
    char family[4] = {e->name[0], e->name[1], e->name[2], 0}, kind[32];
    if (strncmp(e->kind, "delete", 6) == 0) {
        snprintf(kind, sizeof kind, "new%s", e->kind + 6);
        return find(family, kind);
    }
    return strchr(e->name, '_') != NULL ? find(family, "malloc") : find("m", "malloc");
}

static void *make(const struct entry *e, const char *name, int lives)
{
    size_t size = strchr(e->arguments, 'S') != NULL ? new_size() % 1000 : new_size();
    void *block = NULL;
    if (strchr(e->arguments, '&') != NULL)
        (void)call(e, (void *)&block, size);
    else
        block = (void *)call(e, NULL, size);
    tell(name, e->kind, size, block, lives);
    return block;
}

static void try_one(const struct entry *e)
{
    const struct entry *from = maker(e), *end = releaser(e);
    if (strncmp(e->kind, "free", 4) == 0 || strncmp(e->kind, "delete", 6) == 0) {
        void *block = make(from, e->name, 0);
        (void)call(e, block, next_size);
    } else if (strchr(e->arguments, 'p') == NULL && strcmp(e->kind, "reallocarr") != 0) {
        (void)call(end, make(e, e->name, 0), next_size);
    } else {
        void *block = make(from, e->name, 0);
        size_t size = new_size();
        if (strcmp(e->kind, "resize") == 0) {
            size = malloc_usable_size(block) - 1; /* fits for certain */
            (void)call(e, block, size);
        } else if (strcmp(e->kind, "expand") == 0) {
            size = malloc_usable_size(block) - 1;
            block = (void *)call(e, block, size);
        } else if (strcmp(e->kind, "reallocarr") == 0) {
            (void)call(e, (void *)&block, size);
        } else {
            block = (void *)call(e, block, size);
        }
        tell(e->name, "realloc", size, block, 0);
        (void)call(end, block, size);
    }
}

static void crossed(const char *family, const char *release)
{
    const struct entry *from = find(family, "malloc"), *end = find(release, "free");
    if (from == NULL || end == NULL)
        return;
    size_t size = new_size();
    void *block = malloc(size);
    tell("malloc", "malloc", size, block, 0);
    (void)call(end, block, size);
    free(make(from, from->name, 0));
    block = make(from, from->name, 0);
    size = new_size();
    block = realloc(block, size);
    tell("realloc", "realloc", size, block, 0);
    free(block);
    truth_keep(make(from, from->name, 1));
}

static void in_code(void)
{
    size_t size = new_size();
    void *block = NULL;
    if (mallocx != NULL) {
        block = (void *)mallocx(size, 0, 0, 0, 0);
        tell("mallocx", "malloc", size, block, 0);
        size = new_size();
        block = (void *)rallocx((uintptr_t)block, size, 0, 0, 0);
        tell("rallocx", "realloc", size, block, 0);
        sdallocx((uintptr_t)block, size, 0, 0, 0);
        size = new_size();
        block = malloc(size);
        tell("malloc", "malloc", size, block, 0);
        dallocx((uintptr_t)block, 0, 0, 0, 0);
    }
    if (tc_malloc != NULL) {
        block = (void *)tc_malloc(size, 0, 0, 0, 0);
        tell("tc_malloc", "malloc", size, block, 0);
        tc_free_sized((uintptr_t)block, size, 0, 0, 0);
    }
    if (mi_malloc != NULL) {
        block = (void *)mi_malloc(size, 0, 0, 0, 0);
        tell("mi_malloc", "malloc", size, block, 0);
        mi_free((uintptr_t)block, 0, 0, 0, 0);
    }
}

int allocator_names(const char *way);
int allocator_names(const char *way)
{
    caller = way;
    truth_add("{\"there\": [");
    for (unsigned i = 0; i < COUNT; i++)
        truth_add("%s\"%s %d %d\"", i == 0 ? "" : ", ", table[i].name, table[i].call != NULL,
                  dlsym(RTLD_DEFAULT, table[i].name) != NULL);
    truth_add("],\n\"error\": \"%s\",\n\"blocks\": [", dlerror() != NULL ? "yes" : "no");
    for (unsigned i = 0; i < COUNT && caller[0] != 't' && caller[0] != 'c'; i++)
        *(void **)&table[i].call = dlsym(caller[0] == 'd' ? RTLD_DEFAULT : RTLD_NEXT, table[i].name);
    if (caller[0] == 'c') {
        in_code();
    } else {
        for (unsigned i = 0; i < COUNT; i++) {
            if (table[i].call != NULL)
                try_one(&table[i]);
        }
        crossed("mallocx", "sdallocx");
        crossed("tc_malloc", "tc_free");
        crossed("mi_malloc", "mi_free");
    }
    truth_add("]}\n");
    truth_tell(1);
    return 0;
}

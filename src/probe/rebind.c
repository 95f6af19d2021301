/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rebind: see rebind.h.
 *
 *     libjemalloc's .dynsym      mallocx -> our hook     for whoever looks from now on: calls that
 *                                                        are bound lazily, dlsym, later dlopen
 *     slots of other modules     real    -> our hook     what the loader has bound already
 *     libjemalloc's own slots            -> real         its own calls are not the program's
 *
 * Invariants
 *  1. What the names lead to is changed only in libraries that are allocators themselves: that define malloc, or have
 *     no use for it. One that gets its memory from malloc is seen there.
 *  2. Slots are written only when the loader is through with all modules: before, it may not have protected them yet,
 *     and would not find them writable afterwards. Names that it binds meanwhile lead to the hook already.
 *  3. Every page is left with the protection that it had.
 *  4. Where the system does not let us write (SELinux, sealed memory), the recording says so.
 */
#include "probe/rebind.h"

#include "probe/life.h"
#include "probe/module.h"
#include "probe/real.h"
#include "probe/share.h"
#include "probe/sys.h"

#include <sys/mman.h>

enum { REBIND_PAGE = 4096, REBIND_LIBRARIES = 8 };

struct rebind_module {
    const struct link_map *map;
    struct module_headers headers;
    ElfW(Sym) * symbols;
    const char *texts;
    const uint32_t *gnu_hash, *hash;
    const ElfW(Rela) * relocations[2];
    size_t relocation_count[2];
};

static struct rebind_module rebind_libraries[REBIND_LIBRARIES]; /* the allocators */
static unsigned rebind_library_count;
static bool rebind_is_bound;

static bool rebind_is_same(const char *a, const char *b)
{
    for (; *a == *b; a++, b++)
        if (*a == '\0')
            return true;
    return false;
}

/* ---------------------------------------------------------------- one module */

/* Where the dynamic section cannot be written the loader leaves addresses as the file has them. */
static void *rebind_place(const struct link_map *map, uintptr_t value)
{
    return (void *)(value < map->l_addr ? map->l_addr + value : value);
}

static bool rebind_read(const struct link_map *map, struct rebind_module *m)
{
    struct module_object o;
    if (map->l_ld == NULL || real.dl_find_object(map->l_ld, &o) != 0)
        return false;
    *m = (struct rebind_module){.map = map, .headers = module_headers(&o)};
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        void *place = rebind_place(map, d->d_un.d_ptr);
        if (d->d_tag == DT_SYMTAB)
            m->symbols = place;
        else if (d->d_tag == DT_STRTAB)
            m->texts = place;
        else if (d->d_tag == DT_GNU_HASH)
            m->gnu_hash = place;
        else if (d->d_tag == DT_HASH)
            m->hash = place;
        else if (d->d_tag == DT_RELA)
            m->relocations[0] = place;
        else if (d->d_tag == DT_RELASZ)
            m->relocation_count[0] = d->d_un.d_val / sizeof(ElfW(Rela));
        else if (d->d_tag == DT_JMPREL)
            m->relocations[1] = place;
        else if (d->d_tag == DT_PLTRELSZ)
            m->relocation_count[1] = d->d_un.d_val / sizeof(ElfW(Rela));
    }
    return m->symbols != NULL && m->texts != NULL;
}

static bool rebind_defines(const struct rebind_module *m, const ElfW(Sym) * s, const char *name)
{
    return s->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s->st_info) == STT_FUNC &&
           rebind_is_same(m->texts + s->st_name, name);
}

static ElfW(Sym) * rebind_find_gnu(const struct rebind_module *m, const char *name)
{
    const uint32_t *table = m->gnu_hash;
    uint32_t hash = 5381, count = table[0], first = table[1], words = table[2];
    for (const char *c = name; *c != '\0'; c++)
        hash = hash * 33 + (unsigned char)*c;
    const uint64_t *bloom = (const void *)(table + 4);
    uint64_t both = UINT64_C(1) << hash % 64 | UINT64_C(1) << (hash >> table[3]) % 64;
    if (count == 0 || words == 0 || (bloom[hash / 64 % words] & both) != both)
        return NULL;
    const uint32_t *buckets = (const void *)(bloom + words), *chain = buckets + count;
    for (uint32_t i = buckets[hash % count]; i >= first; i++) {
        if ((chain[i - first] | 1) == (hash | 1) && rebind_defines(m, &m->symbols[i], name))
            return &m->symbols[i];
        if ((chain[i - first] & 1) != 0)
            break;
    }
    return NULL;
}

static ElfW(Sym) * rebind_find(const struct rebind_module *m, const char *name)
{
    if (m->gnu_hash != NULL)
        return rebind_find_gnu(m, name);
    uint32_t hash = 0;
    for (const char *c = name; *c != '\0'; c++) {
        hash = (hash << 4) + (unsigned char)*c;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    if (m->hash == NULL || m->hash[0] == 0)
        return NULL;
    const uint32_t *buckets = m->hash + 2, *chain = buckets + m->hash[0];
    for (uint32_t i = buckets[hash % m->hash[0]]; i != 0; i = chain[i])
        if (rebind_defines(m, &m->symbols[i], name))
            return &m->symbols[i];
    return NULL;
}

/* Calls back for each place that holds the address of a symbol. */
typedef void rebind_visit(const struct rebind_module *m, const char *name, uintptr_t *slot, void *of);

static void rebind_visit_slots(const struct rebind_module *m, rebind_visit *visit, void *of)
{
    for (unsigned table = 0; table < 2; table++) {
        for (size_t i = 0; i < m->relocation_count[table]; i++) {
            const ElfW(Rela) *r = &m->relocations[table][i];
            if (arch_is_address((uint32_t)ELF64_R_TYPE(r->r_info)) && r->r_addend == 0)
                visit(m, m->texts + m->symbols[ELF64_R_SYM(r->r_info)].st_name,
                      (uintptr_t *)(m->map->l_addr + r->r_offset), of);
        }
    }
}

/* ------------------------------------------------------------------- writing */

static int rebind_protection(const struct rebind_module *m, uintptr_t at)
{
    int prot = 0;
    for (unsigned i = 0; i < m->headers.count; i++) {
        const ElfW(Phdr) *h = &m->headers.list[i];
        uintptr_t start = m->map->l_addr + h->p_vaddr, end = start + h->p_memsz;
        if (h->p_type == PT_LOAD && at >= start && at < end)
            prot |= ((h->p_flags & PF_R) != 0 ? PROT_READ : 0) | ((h->p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
                    ((h->p_flags & PF_X) != 0 ? PROT_EXEC : 0);
    }
    for (unsigned i = 0; i < m->headers.count; i++) {
        const ElfW(Phdr) *h = &m->headers.list[i];
        uintptr_t start = m->map->l_addr + h->p_vaddr,
                  end = (start + h->p_memsz) & ~(uintptr_t)(REBIND_PAGE - 1);
        if (h->p_type == PT_GNU_RELRO && at >= (start & ~(uintptr_t)(REBIND_PAGE - 1)) && at < end)
            prot = PROT_READ;
    }
    return prot;
}

/* An aligned word, which other threads may read meanwhile. */
static bool rebind_write(const struct rebind_module *m, void *at, uintptr_t value)
{
    int prot = rebind_protection(m, (uintptr_t)at);
    void *page = (void *)((uintptr_t)at & ~(uintptr_t)(REBIND_PAGE - 1));
    bool is_open = (prot & PROT_WRITE) != 0;
    if (prot == 0 || (!is_open && sys_failed(sys_mprotect(page, REBIND_PAGE, prot | PROT_WRITE)))) {
        share_note_unhooked(SEGMENT_UNHOOKED_NAMES);
        return false;
    }
    __atomic_store_n((uintptr_t *)at, value, __ATOMIC_RELEASE);
    if (!is_open)
        (void)sys_mprotect(page, REBIND_PAGE, prot);
    return true;
}

/* ---------------------------------------------------------------- allocators */

static void rebind_look_for_malloc(const struct rebind_module *m, const char *name, uintptr_t *slot,
                                   void *found)
{
    (void)m;
    (void)slot;
    if (rebind_is_same(name, "malloc"))
        *(bool *)found = true;
}

static bool rebind_is_allocator(const struct rebind_module *m)
{
    static const char *const names[] = {"mallocx", "sdallocx", "tc_malloc", "mi_malloc"};
    bool has = false, uses_malloc = false;
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        has = has || rebind_find(m, names[i]) != NULL;
    if (has && rebind_find(m, "malloc") == NULL)
        rebind_visit_slots(m, rebind_look_for_malloc, &uses_malloc);
    return has && !uses_malloc;
}

/* Of a name that several libraries have, the first in the loader's order is the program's. */
static void rebind_redirect(const struct rebind_module *m)
{
    /* Not real.malloc, which may be one that zeroes. */
    bool is_foreign = !real_same_module((void *)m->map->l_ld, (void *)(uintptr_t)real_found.malloc);
    for (unsigned i = 0; i < rebind_count; i++) {
        struct rebind *r = &rebind_list[i];
        ElfW(Sym) *symbol = r->real != NULL ? NULL : rebind_find(m, r->name);
        if (symbol == NULL)
            continue;
        r->is_foreign = is_foreign;
        __atomic_store_n(&r->real, (rebind_function *)(m->map->l_addr + symbol->st_value), __ATOMIC_RELEASE);
        if (rebind_write(m, &symbol->st_value, (uintptr_t)r->hook - m->map->l_addr))
            r->symbol = symbol;
    }
}

/* -------------------------------------------------------------- what is bound */

static bool rebind_is_of(const struct rebind *r, const struct rebind_module *m)
{
    return r->symbol != NULL && rebind_find(m, r->name) == r->symbol;
}

static void rebind_slot(const struct rebind_module *m, const char *name, uintptr_t *slot, void *of)
{
    const bool *is_library = of;
    const uintptr_t now = *slot;
    for (unsigned i = 0; i < rebind_count; i++) {
        const struct rebind *r = &rebind_list[i];
        const uintptr_t its_own = (uintptr_t)r->real, hook = (uintptr_t)r->hook;
        if (r->symbol == NULL || !(*is_library || now == its_own) || !rebind_is_same(name, r->name))
            continue;
        uintptr_t wanted = *is_library && rebind_is_of(r, m) ? its_own : now == its_own ? hook : now;
        if (now != wanted)
            (void)rebind_write(m, slot, wanted);
        return;
    }
}

static void rebind_bind(const struct link_map *first)
{
    struct rebind_module m;
    rebind_is_bound = true;
    for (const struct link_map *map = first; map != NULL; map = map->l_next) {
        bool is_library = false;
        for (unsigned i = 0; i < rebind_library_count; i++)
            is_library = is_library || rebind_libraries[i].map == map;
        if (rebind_read(map, &m))
            rebind_visit_slots(&m, rebind_slot, &is_library);
    }
}

/* ---------------------------------------------------------------------- birth */

static const struct link_map *rebind_find_program(void)
{
    struct module_object o;
    if (real.dl_find_object((void *)(uintptr_t)rebind_open, &o) != 0)
        return NULL;
    const struct link_map *map = o.link_map;
    while (map->l_prev != NULL)
        map = map->l_prev;
    return map;
}

/* What the loader tells debuggers: it has relocated all. */
static bool rebind_is_settled(const struct link_map *program)
{
    for (const ElfW(Dyn) *d = program->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_DEBUG && d->d_un.d_ptr != 0)
            return ((const struct r_debug *)d->d_un.d_ptr)->r_state == RT_CONSISTENT;
    return false;
}

void rebind_open(bool is_zeroed)
{
    const struct link_map *program = real.is_first ? rebind_find_program() : NULL;
    if (program == NULL)
        return;
    rebind_is_zeroed = is_zeroed;
    for (const struct link_map *map = program->l_next; map != NULL; map = map->l_next) {
        struct rebind_module *m = &rebind_libraries[rebind_library_count];
        if (rebind_library_count < REBIND_LIBRARIES && rebind_read(map, m) && rebind_is_allocator(m)) {
            rebind_library_count++;
            rebind_redirect(m);
        }
    }
    if (rebind_library_count != 0 && rebind_is_settled(program))
        rebind_bind(program);
}

/* Whenever birth was: constructors run when the loader is through. */
__attribute__((constructor)) static void rebind_constructor(void)
{
    if (rebind_library_count != 0 && !rebind_is_bound)
        rebind_bind(rebind_find_program());
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * first: see first.h.
 */
#include "probe/first.h"

#include "probe/module.h"
#include "probe/real.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");

static const struct link_map *first_find_module(const void *address)
{
    struct module_object o;
    if (real.dl_find_object == NULL || real.dl_find_object((void *)(uintptr_t)address, &o) != 0)
        return NULL;
    return o.link_map;
}

static bool first_begins_with(const char *text, const char *with)
{
    while (*with != '\0' && *text == *with) {
        text++;
        with++;
    }
    return *with == '\0';
}

static bool first_is_malloc(const char *name)
{
    return first_begins_with(name, "malloc") && name[sizeof "malloc" - 1] == '\0';
}

/* Is this address of malloc, in a program that has one for it, that of a jump to another's? */
static bool first_is_jump(const struct link_map *program, const void *address)
{
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    for (const ElfW(Dyn) *d = program->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            symbols = (const ElfW(Sym) *)d->d_un.d_ptr;
        else if (d->d_tag == DT_STRTAB)
            names = (const char *)d->d_un.d_ptr;
    }
    /* Linkers put the names behind the symbols, whose number nothing tells. */
    for (const ElfW(Sym) *s = symbols; s != NULL && (const char *)(s + 1) <= names; s++)
        if (program->l_addr + s->st_value == (uintptr_t)address && first_is_malloc(names + s->st_name))
            return s->st_shndx == SHN_UNDEF;
    return false;
}

bool first_is_ours(void)
{
    const struct link_map *ours = first_find_module((const void *)(uintptr_t)first_is_ours);
    const void *address = dlsym(RTLD_DEFAULT, "malloc");
    const struct link_map *first = first_find_module(address);
    if (first == NULL || first == ours || first->l_prev != NULL || !first_is_jump(first, address))
        return first != NULL && first == ours;
    /* The kernel's own has no functions but its own. Whether another that was loaded before us has a malloc is not
     * looked at: then we rather get around nobody. */
    const struct link_map *next = first->l_next;
    if (next != NULL && first_begins_with(next->l_name, "linux-"))
        next = next->l_next;
    return next == ours;
}

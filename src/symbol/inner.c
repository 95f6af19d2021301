/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * inner: see inner.h.
 *
 * An allocator is known by a function that it alone has and that no program calls, so the name stands where it is defined and
 * nowhere else: it is looked for in the texts of the symbol tables, which is quicker than going through the symbols.  Where
 * those are stripped, what it says when it is in trouble is left.
 */
#include "symbol/inner.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "symbol/elffile.h"

struct inner {
    const char *name;
    const char *function; /* part of a name in a symbol table */
    const char *said;     /* part of a text; NULL: it has none of its own */
};

static const struct inner inner_table[] = {
    {"jemalloc", "arena_malloc_hard", "<jemalloc>: "},
    {"mimalloc", "_mi_malloc_generic", "mimalloc: warning: "},
    {"rpmalloc", "_rpmalloc_allocate", NULL},
    {"snmalloc", "_ZN8snmalloc", NULL},
};

const char inner_go[] = "Go";

enum { INNER_COUNT = sizeof inner_table / sizeof inner_table[0] };

static bool inner_holds(Elf_Scn *section, const char *text)
{
    size_t length;
    const uint8_t *bytes = section == NULL ? NULL : elffile_get_bytes(section, &length);
    return bytes != NULL && text != NULL && memmem(bytes, length, text, strlen(text)) != NULL;
}

/* The symbol table of this kind; NULL: none. */
static Elf_Scn *inner_find_table(const struct elffile *f, uint32_t type, GElf_Shdr *header)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(f->elf, section)) != NULL)
        if (gelf_getshdr(section, header) != NULL && header->sh_type == type)
            return section;
    return NULL;
}

/* A library has no loader of its own. */
static bool inner_is_library(const struct elffile *f)
{
    GElf_Phdr header;
    size_t count = 0;
    if (elf_getphdrnum(f->elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(f->elf, (int)i, &header) != NULL && header.p_type == PT_INTERP)
            return false;
    return count != 0;
}

/* Whether it defines malloc for all to see: then the loader knows of it, and so does the probe. Of mimalloc built not to
 * replace malloc, as a library, the probe has hooks for its own names (probe/allocator_list.h). */
static bool inner_is_open(const struct elffile *f)
{
    GElf_Shdr header;
    bool is_library = inner_is_library(f);
    Elf_Scn *section = inner_find_table(f, SHT_DYNSYM, &header);
    Elf_Data *data = section == NULL ? NULL : elf_getdata(section, NULL);
    size_t count = data == NULL ? 0 : data->d_size / gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT);
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        const char *name = gelf_getsym(data, (int)i, &symbol) == NULL || symbol.st_shndx == SHN_UNDEF
                               ? NULL
                               : elf_strptr(f->elf, header.sh_link, symbol.st_name);
        if (name != NULL && (strcmp(name, "malloc") == 0 || (is_library && strcmp(name, "mi_malloc") == 0)))
            return true;
    }
    return false;
}

/* Python has mimalloc since 3.13, and takes nothing from it unless it is asked to (PYTHONMALLOC=mimalloc) or built to run
 * threads freely. */
static bool inner_is_idle(Elf_Scn *names)
{
    return inner_holds(names, "PyObject_Malloc") && !inner_holds(names, "_Py_MergeZeroLocalRefcount");
}

static const char *inner_find_in(const struct elffile *f)
{
    GElf_Shdr symbols, dynamic;
    Elf_Scn *texts = NULL, *others = NULL, *constants = NULL;
    if (elffile_find_section(f, ".note.go.buildid", NULL) != NULL)
        return inner_go;
    if (inner_find_table(f, SHT_SYMTAB, &symbols) != NULL)
        texts = elf_getscn(f->elf, symbols.sh_link);
    else
        constants = elffile_find_section(f, ".rodata", NULL);
    if (inner_find_table(f, SHT_DYNSYM, &dynamic) != NULL)
        others = elf_getscn(f->elf, dynamic.sh_link);
    for (unsigned i = 0; i < INNER_COUNT; i++) {
        const struct inner *a = &inner_table[i];
        if (inner_holds(texts, a->function) || inner_holds(others, a->function) ||
            inner_holds(constants, a->said))
            return inner_is_open(f) || inner_is_idle(others) ? NULL : a->name;
    }
    return NULL;
}

const char *inner_find(int fd, const char *path)
{
    struct elffile f = {0};
    struct err err;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    err_init(&err);
    if (own < 0 || elffile_open_fd(&f, own, path, &err) != 0)
        return NULL;
    const char *name = inner_find_in(&f);
    elffile_close(&f);
    return name;
}

const char *inner_name(size_t i)
{
    return i < INNER_COUNT ? inner_table[i].name : i == INNER_COUNT ? inner_go : NULL;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * symtab: see symtab.h.
 *
 * Which of several symbols at one address: one with a size before one without,
 * a function before a label, one that others can see before a local one; then
 * the one with fewer underscores in front (glibc calls read also __read and
 * __libc_read), a global one before a weak one, the shorter one, the first in the alphabet.
 */
#include "symbol/symtab.h"

#include <stdlib.h>
#include <string.h>

enum {
    RANK_GLOBAL = 1,
    RANK_VISIBLE = 2,
    RANK_FUNCTION = 4,
    RANK_SIZED = 8,
};

/* Bytes of a name that count when two are compared: all names may be tails of one that fills the file. */
enum { SYMBOL_COMPARED = 4096 };

void symtab_release(struct symtab *t)
{
    vec_release(&t->symbols);
    spans_release(&t->spans);
    arena_release(&t->texts);
}

/* ------------------------------------------------------------------- reading */

static bool symtab_is_code(const GElf_Sym *symbol, const char *name)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || name == NULL || name[0] == '\0')
        return false;
    /* $x, $d, $t mark code and data on some CPUs; .L are the compiler's labels. */
    if (type == STT_NOTYPE)
        return name[0] != '$' && strncmp(name, ".L", 2) != 0;
    return type == STT_FUNC || type == STT_GNU_IFUNC;
}

static uint8_t symtab_rank(const GElf_Sym *symbol)
{
    unsigned binding = GELF_ST_BIND(symbol->st_info);
    return (uint8_t)((symbol->st_size > 0 ? RANK_SIZED : 0) |
                     (GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE ? RANK_FUNCTION : 0) |
                     (binding != STB_LOCAL ? RANK_VISIBLE : 0) | (binding == STB_GLOBAL ? RANK_GLOBAL : 0));
}

/* The end of the section that a symbol is in, 0 = it is in none that holds code. */
static uint64_t symtab_section_end(const struct elffile *f, size_t section)
{
    GElf_Shdr header;
    Elf_Scn *scn = elf_getscn(f->elf, section);
    uint64_t end;
    if (scn == NULL || gelf_getshdr(scn, &header) == NULL || (header.sh_flags & SHF_EXECINSTR) == 0 ||
        __builtin_add_overflow(header.sh_addr, header.sh_size, &end))
        return 0;
    return end;
}

/* A symbol without a size reaches up to the next one.  The last of the compiler's start files is a single jump, and
 * what follows is the program, which may begin with code that has no symbols (Haskell's has none). */
static uint64_t symtab_size(const GElf_Sym *symbol, const char *name)
{
    enum { JUMP = 16 };
    return symbol->st_size == 0 && strcmp(name, "frame_dummy") == 0 ? JUMP : symbol->st_size;
}

/* A statically linked program has its start-up code inside, and the C library from there on: compilers name it last, and
 * linkers keep that order. */
static void symtab_look_for_libc(struct symtab *t, uint64_t address, uint64_t end, const char *name)
{
    if (name[0] == 'm' && strcmp(name, "main") == 0)
        t->has_main = true;
    if (name[0] != '_' ||
        (strcmp(name, "__libc_start_main") != 0 && strcmp(name, "__libc_start_call_main") != 0) ||
        (t->libc != 0 && t->libc <= address))
        return;
    t->libc = address;
    t->libc_end = end;
}

bool symtab_is_libc(const struct symtab *t, uint64_t address)
{
    return t->has_main && address >= t->libc && address < t->libc_end;
}

bool symtab_add(struct symtab *t, const struct elffile *f, bool dynamic)
{
    GElf_Shdr header = {0};
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(f->elf, section)) != NULL)
        if (gelf_getshdr(section, &header) == NULL || header.sh_type == (dynamic ? SHT_DYNSYM : SHT_SYMTAB))
            break;
    Elf_Data *data = section != NULL ? elf_getdata(section, NULL) : NULL;
    if (data == NULL || header.sh_entsize == 0 || header.sh_type == SHT_NOBITS)
        return false;
    size_t count = data->d_size / gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT);
    size_t end_of = SIZE_MAX;
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) == NULL)
            break;
        const char *name = elf_strptr(f->elf, header.sh_link, symbol.st_name);
        if (!symtab_is_code(&symbol, name))
            continue;
        if (symbol.st_shndx != end_of) {
            end_of = symbol.st_shndx;
            end = symtab_section_end(f, end_of);
        }
        symtab_look_for_libc(t, symbol.st_value, end, name);
        if (end != 0 && !vec_push(&t->symbols, ((struct symbol){.address = symbol.st_value,
                                                                .size = symtab_size(&symbol, name),
                                                                .end = end,
                                                                .name = name,
                                                                .rank = symtab_rank(&symbol)})))
            break;
    }
    return true;
}

/* --------------------------------------------------------------------- stubs */

/* Stub number i of .plt serves relocation number i of .rela.plt; where a
 * linker made .plt.sec, the calls go there, and .plt only helps to bind. */
struct stubs {
    uint64_t first;
    uint64_t size;
    size_t count;
    uint64_t end;
};

static bool stubs_find(struct stubs *s, const struct elffile *f)
{
    GElf_Ehdr file;
    GElf_Shdr header;
    uint64_t skipped = 0;
    if (gelf_getehdr(f->elf, &file) == NULL || (file.e_machine != EM_X86_64 && file.e_machine != EM_AARCH64))
        return false;
    s->size = 16;
    if (elffile_find_section(f, ".plt.sec", &header) == NULL) {
        /* The first entry is the way into the loader. */
        skipped = file.e_machine == EM_AARCH64 ? 32 : 16;
        if (elffile_find_section(f, ".plt", &header) == NULL)
            return false;
    }
    if (header.sh_size < skipped || __builtin_add_overflow(header.sh_addr, header.sh_size, &s->end))
        return false;
    s->first = header.sh_addr + skipped;
    s->count = (header.sh_size - skipped) / s->size;
    return true;
}

void symtab_add_stubs(struct symtab *t, const struct elffile *f)
{
    struct stubs s;
    GElf_Shdr header, symbols_header;
    Elf_Scn *section = elffile_find_section(f, ".rela.plt", &header);
    Elf_Scn *symbols = section != NULL ? elf_getscn(f->elf, header.sh_link) : NULL;
    Elf_Data *data = symbols != NULL ? elf_getdata(section, NULL) : NULL;
    Elf_Data *table = data != NULL ? elf_getdata(symbols, NULL) : NULL;
    if (table == NULL || gelf_getshdr(symbols, &symbols_header) == NULL ||
        symbols_header.sh_type != SHT_DYNSYM || !stubs_find(&s, f))
        return;
    for (size_t i = 0; i < s.count; i++) {
        GElf_Rela relocation;
        GElf_Sym symbol;
        if (gelf_getrela(data, (int)i, &relocation) == NULL)
            return;
        const char *name = gelf_getsym(table, (int)GELF_R_SYM(relocation.r_info), &symbol) != NULL
                               ? elf_strptr(f->elf, symbols_header.sh_link, symbol.st_name)
                               : NULL;
        if (name == NULL || name[0] == '\0')
            continue;
        size_t length = strlen(name);
        char *text = arena_push(&t->texts, length + sizeof "@plt");
        if (text == NULL)
            return;
        memcpy(text, name, length);
        memcpy(text + length, "@plt", sizeof "@plt");
        (void)vec_push(&t->symbols, ((struct symbol){.address = s.first + i * s.size,
                                                     .size = s.size,
                                                     .end = s.end,
                                                     .name = text,
                                                     .rank = RANK_SIZED | RANK_FUNCTION}));
    }
}

/* ------------------------------------------------------------------- choosing */

static size_t symbol_underscores(const char *name)
{
    size_t count = 0;
    while (count < SYMBOL_COMPARED && name[count] == '_')
        count++;
    return count;
}

static int symbol_compare(const void *left, const void *right)
{
    const struct symbol *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->rank >> 1 != b->rank >> 1)
        return a->rank > b->rank ? -1 : 1;
    size_t bars_a = symbol_underscores(a->name), bars_b = symbol_underscores(b->name);
    if (bars_a != bars_b)
        return bars_a < bars_b ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    size_t length_a = strnlen(a->name, SYMBOL_COMPARED), length_b = strnlen(b->name, SYMBOL_COMPARED);
    if (length_a != length_b)
        return length_a < length_b ? -1 : 1;
    return strncmp(a->name, b->name, SYMBOL_COMPARED);
}

void symtab_seal(struct symtab *t)
{
    struct symbol *list = t->symbols.data;
    size_t kept = 0;
    if (t->symbols.count == 0)
        return;
    qsort(list, t->symbols.count, sizeof *list, symbol_compare);
    for (size_t i = 0; i < t->symbols.count; i++)
        if (kept == 0 || list[i].address != list[kept - 1].address)
            list[kept++] = list[i];
    t->symbols.count = kept;
    uint64_t covered = 0; /* the end of what symbols with a size hold so far */
    for (size_t i = 0; i < kept; i++) {
        uint64_t high;
        if (list[i].size == 0) {
            if (list[i].address < covered)
                continue;
            high = i + 1 < kept && list[i + 1].address < list[i].end ? list[i + 1].address : list[i].end;
        } else if (__builtin_add_overflow(list[i].address, list[i].size, &high))
            continue;
        else if (high > covered)
            covered = high;
        (void)spans_add(&t->spans, list[i].address, high, (uint32_t)i);
    }
    spans_seal(&t->spans);
}

const char *symtab_find(const struct symtab *t, uint64_t address)
{
    uint32_t at = spans_find(&t->spans, address);
    return at != SPAN_NONE ? t->symbols.data[at].name : NULL;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * elffile: see elffile.h.
 *
 * libelf checks every header it reads against the size of the file.  What it
 * leaves to us is how much a compressed section may become: a header may claim
 * anything, deflate reaches 1032:1 and zstd far more. Debugging information is a
 * tenth when packed; what is a thousandth was made to keep us busy.
 */
#include "symbol/elffile.h"

#include "tool/file.h"
#include "tool/memory.h"

#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t ELFFILE_UNPACKED_MAX = UINT64_C(16) << 30;
enum { ELFFILE_RATIO_MAX = 100, ELFFILE_RATIO_FREE = 1 << 20 /* bytes that are not asked for theirs */ };

bool build_id_set(struct build_id *id, const void *bytes, size_t length)
{
    id->length = length <= BUILD_ID_MAX ? length : 0;
    if (id->length > 0)
        memcpy(id->bytes, bytes, length);
    return length <= BUILD_ID_MAX;
}

bool build_id_is_equal(const struct build_id *a, const struct build_id *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

const char *build_id_format(const struct build_id *id, char *text)
{
    static const char digits[] = "0123456789abcdef";
    char *p = text;
    if (id->length == 0)
        return strcpy(text, "none");
    for (size_t i = 0; i < id->length; i++) {
        *p++ = digits[id->bytes[i] >> 4];
        *p++ = digits[id->bytes[i] & 15];
    }
    *p = '\0';
    return text;
}

/* ------------------------------------------------------------------ judging */

/* Bytes that a section says it has once it is unpacked; 0: it is not compressed. */
static uint64_t elffile_unpacked(Elf *elf, size_t names, Elf_Scn *section, const GElf_Shdr *header)
{
    GElf_Chdr packed;
    if ((header->sh_flags & SHF_COMPRESSED) != 0)
        return gelf_getchdr(section, &packed) != NULL ? packed.ch_size : 0;
    const char *name = elf_strptr(elf, names, header->sh_name);
    if (name == NULL || strncmp(name, ".zdebug", strlen(".zdebug")) != 0)
        return 0;
    ssize_t size = dwelf_scn_gnu_compressed_size(section);
    return size > 0 ? (uint64_t)size : 0;
}

static int elffile_check_sections(const struct elffile *f, struct err *err)
{
    uint64_t sum = 0;
    size_t names;
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(f->elf, &names) != 0)
        return 0;
    while ((section = elf_nextscn(f->elf, section)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL)
            return err_set(err, ERR_INPUT, "%s has broken section headers.", f->path);
        uint64_t unpacked = elffile_unpacked(f->elf, names, section, &header);
        uint64_t asked = unpacked > ELFFILE_RATIO_FREE ? unpacked - ELFFILE_RATIO_FREE : 0;
        if (asked / ELFFILE_RATIO_MAX > header.sh_size || __builtin_add_overflow(sum, unpacked, &sum) ||
            sum > ELFFILE_UNPACKED_MAX)
            return err_set(err, ERR_LIMIT,
                           "%s has sections that claim to unpack to more than debugging information does.",
                           f->path);
    }
    return 0;
}

/* Code that the linker has dropped begins at 0 in the debugging information, where a library has its ELF header: no code
 * begins there, although the segment of the code may. */
static void elffile_find_text(struct elffile *f)
{
    const size_t head = gelf_fsize(f->elf, ELF_T_EHDR, 1, EV_CURRENT);
    size_t count;
    f->text_low = UINT64_MAX;
    if (elf_getphdrnum(f->elf, &count) != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        uint64_t high;
        if (gelf_getphdr(f->elf, (int)i, &header) == NULL)
            return;
        if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0 ||
            __builtin_add_overflow(header.p_vaddr, header.p_memsz, &high))
            continue;
        uint64_t low = header.p_vaddr;
        if (header.p_offset == 0 && header.p_memsz >= head)
            low += head;
        if (low < f->text_low)
            f->text_low = low;
        if (high > f->text_high)
            f->text_high = high;
    }
}

static int elffile_judge(struct elffile *f, struct err *err)
{
    GElf_Ehdr header;
    const void *id;
    if (f->elf == NULL || elf_kind(f->elf) != ELF_K_ELF || gelf_getehdr(f->elf, &header) == NULL)
        return err_set(err, ERR_INPUT, "%s is not an ELF file.", f->path);
    /* What dwz shares between programs says that it is relocatable. */
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN && header.e_type != ET_REL)
        return err_set(err, ERR_INPUT, "%s is neither a program nor a library.", f->path);
    int code = elffile_check_sections(f, err);
    if (code != 0)
        return code;
    elffile_find_text(f);
    ssize_t length = dwelf_elf_gnu_build_id(f->elf, &id);
    if (length > 0)
        (void)build_id_set(&f->id, id, (size_t)length);
    return 0;
}

/* ------------------------------------------------------------------ opening */

int elffile_open_fd(struct elffile *f, int fd, const char *path, struct err *err)
{
    *f = (struct elffile){.is_file = true, .fd = fd, .path = memory_copy_text(path)};
    int code = 0;
    (void)elf_version(EV_CURRENT);
    if (f->path == NULL)
        code = err_no_memory(err);
    else if (fstat(fd, &f->stat) != 0 || !S_ISREG(f->stat.st_mode))
        code = err_set(err, ERR_INPUT, "%s is not a regular file.", path);
    else {
        f->size = (uint64_t)f->stat.st_size;
        f->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
        code = elffile_judge(f, err);
    }
    if (code != 0)
        elffile_close(f);
    return code;
}

int elffile_open(struct elffile *f, const char *path, struct err *err)
{
    int fd;
    uint64_t size;
    *f = (struct elffile){0};
    int code = file_open(&fd, &size, path, err);
    return code != 0 ? code : elffile_open_fd(f, fd, path, err);
}

int elffile_open_memory(struct elffile *f, void *bytes, size_t size, const char *path, struct err *err)
{
    *f = (struct elffile){.fd = -1, .path = memory_copy_text(path), .memory = bytes, .size = size};
    int code = 0;
    (void)elf_version(EV_CURRENT);
    if (f->path == NULL)
        code = err_no_memory(err);
    else {
        f->elf = elf_memory(bytes, size);
        code = elffile_judge(f, err);
    }
    if (code != 0)
        elffile_close(f);
    return code;
}

void elffile_close(struct elffile *f)
{
    if (f->elf != NULL)
        elf_end(f->elf);
    if (f->is_file)
        file_close(f->fd);
    free(f->memory);
    free(f->path);
    *f = (struct elffile){0};
}

/* ------------------------------------------------------------------- asking */

Elf_Scn *elffile_find_section(const struct elffile *f, const char *name, GElf_Shdr *header)
{
    GElf_Shdr own;
    size_t names;
    Elf_Scn *section = NULL;
    if (header == NULL)
        header = &own;
    if (f->elf == NULL || elf_getshdrstrndx(f->elf, &names) != 0)
        return NULL;
    while ((section = elf_nextscn(f->elf, section)) != NULL) {
        if (gelf_getshdr(section, header) == NULL)
            return NULL;
        const char *found = elf_strptr(f->elf, names, header->sh_name);
        if (found != NULL && strcmp(found, name) == 0)
            return section;
    }
    return NULL;
}

const uint8_t *elffile_get_bytes(Elf_Scn *section, size_t *length)
{
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == NULL || header.sh_type == SHT_NOBITS)
        return NULL;
    Elf_Data *data = elf_getdata(section, NULL);
    *length = data != NULL ? data->d_size : 0;
    return data != NULL ? data->d_buf : NULL;
}

bool elffile_has_dwarf(const struct elffile *f)
{
    static const char *const names[] = {".debug_info", ".zdebug_info", ".debug_line", ".zdebug_line"};
    GElf_Shdr header;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (elffile_find_section(f, names[i], &header) != NULL && header.sh_type != SHT_NOBITS)
            return true;
    return false;
}

bool elffile_has_packed_dwarf(const struct elffile *f)
{
    GElf_Shdr header;
    GElf_Chdr packed;
    Elf_Scn *section = elffile_find_section(f, ".debug_info", &header);
    return section != NULL && (header.sh_flags & SHF_COMPRESSED) != 0 &&
           gelf_getchdr(section, &packed) != NULL && elf_compress(section, 0, 0) < 0;
}

/* Where two segments share a page of the file, code is what is asked for. */
bool elffile_find_address(const struct elffile *f, uint64_t offset, uint64_t *address)
{
    const uint64_t page = 4095;
    bool found = false;
    size_t count;
    if (elf_getphdrnum(f->elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(f->elf, (int)i, &header) == NULL)
            break;
        /* Whole pages are mapped, so a mapping may begin before its segment. */
        uint64_t start = header.p_offset & ~page;
        bool is_code = (header.p_flags & PF_X) != 0;
        if (header.p_type != PT_LOAD || offset < start ||
            offset - start >= header.p_filesz + (header.p_offset & page))
            continue;
        if (!found || is_code)
            *address = header.p_vaddr - header.p_offset + offset;
        found = true;
        if (is_code)
            break;
    }
    return found;
}

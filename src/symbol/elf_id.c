/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * elf_id: see elf_id.h.  64-bit, little-endian, as all programs that are
 * recorded.
 *
 *     ELF header -> program headers -> PT_NOTE -> | name length | length | type | "GNU" | build id |
 */
#include "symbol/elf_id.h"

#include "base/cursor.h"
#include "tool/file.h"
#include "tool/strbuf.h"

#include <elf.h>
#include <string.h>

enum {
    ELF_ID_HEADERS = 128,    /* program headers that are looked at */
    ELF_ID_NOTES = 16 << 10, /* bytes of notes that are */
    ELF_ID_GNU = 4,          /* length of the name with its NUL */
    ELF_ID_ALIGN = 4,
};

static bool elf_id_find(struct elf_id *id, const uint8_t *notes, size_t length)
{
    struct cursor c;
    cursor_init(&c, notes, length);
    while (cursor_left(&c) > 0) {
        uint32_t name_length = cursor_u32(&c), size = cursor_u32(&c), type = cursor_u32(&c);
        if (name_length > length || size > length)
            return false;
        const uint8_t *name = cursor_take(&c, (name_length + ELF_ID_ALIGN - 1) & ~(size_t)(ELF_ID_ALIGN - 1));
        const uint8_t *bytes = cursor_take(&c, size);
        if (cursor_is_bad(&c))
            return false;
        if (type == NT_GNU_BUILD_ID && name_length == ELF_ID_GNU && memcmp(name, "GNU", ELF_ID_GNU) == 0 &&
            size <= ELF_ID_MAX) {
            memcpy(id->bytes, bytes, size);
            id->length = size;
            return true;
        }
        size_t left = cursor_left(&c), pad = -size & (ELF_ID_ALIGN - 1);
        cursor_skip(&c, pad < left ? pad : left);
    }
    return false;
}

bool elf_id_read(struct elf_id *id, int fd)
{
    Elf64_Ehdr head;
    size_t got;
    id->length = 0;
    if (file_read_at(fd, &head, sizeof head, 0, &got) != 0 || got < sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_phentsize != sizeof(Elf64_Phdr))
        return false;
    for (unsigned i = 0; i < head.e_phnum && i < ELF_ID_HEADERS; i++) {
        uint8_t notes[ELF_ID_NOTES];
        Elf64_Phdr p;
        if (file_read_at(fd, &p, sizeof p, head.e_phoff + i * sizeof p, &got) != 0 || got < sizeof p)
            return false;
        size_t want = p.p_filesz < sizeof notes ? (size_t)p.p_filesz : sizeof notes;
        if (p.p_type == PT_NOTE && file_read_at(fd, notes, want, p.p_offset, &got) == 0 &&
            elf_id_find(id, notes, got))
            break;
    }
    return true;
}

bool elf_id_fits(const struct elf_id *id, const uint8_t *build_id, size_t length)
{
    return length == 0 || (id->length == length && memcmp(id->bytes, build_id, length) == 0);
}

int elf_id_open(int *fd, const char *sysroot, const char *path, const uint8_t *build_id, size_t length,
                struct err *err)
{
    struct strbuf file;
    struct elf_id id;
    uint64_t size;
    strbuf_init(&file);
    strbuf_add_text(&file, sysroot == NULL ? "" : sysroot);
    strbuf_add_text(&file, path);
    *fd = -1;
    int code = file.failed ? err_no_memory(err) : file_open(fd, &size, strbuf_get(&file), err);
    if (code == 0 && (!elf_id_read(&id, *fd) || !elf_id_fits(&id, build_id, length))) {
        file_close(*fd);
        *fd = -1;
        code = err_set(err, ERR_INPUT, "%s is no longer the file that was recorded.", path);
    }
    strbuf_release(&file);
    return code;
}

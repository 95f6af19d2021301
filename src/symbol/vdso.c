/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * vdso: see vdso.h.
 *
 * It is as long as its last part, be that a segment or the table of section
 * headers at the end, rounded up by nothing: the kernel maps at least that.
 */
#include "symbol/vdso.h"

#include "tool/memory.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

bool vdso_is_named(const char *path)
{
    return strcmp(path, "[vdso]") == 0 || strncmp(path, "linux-vdso", strlen("linux-vdso")) == 0 ||
           strncmp(path, "linux-gate", strlen("linux-gate")) == 0;
}

static size_t vdso_size(const ElfW(Ehdr) * header)
{
    const ElfW(Phdr) *segments = (const void *)((const char *)header + header->e_phoff);
    size_t size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    for (size_t i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_offset + segments[i].p_filesz > size)
            size = segments[i].p_offset + segments[i].p_filesz;
    return size;
}

int vdso_open(struct elffile *out, const struct build_id *id, struct err *err)
{
    const ElfW(Ehdr) *header = (const void *)getauxval(AT_SYSINFO_EHDR);
    if (header == NULL)
        return err_set(err, ERR_ABSENT, "This kernel gives no vdso.");
    size_t size = vdso_size(header);
    void *copy = memory_new(size);
    if (copy == NULL)
        return err_no_memory(err);
    int code = elffile_open_memory(out, memcpy(copy, header, size), size, "[vdso]", err);
    if (code == 0 && id->length > 0 && !build_id_is_equal(&out->id, id)) {
        elffile_close(out);
        code = err_set(err, ERR_ABSENT, "The vdso is that of another kernel.");
    }
    return code;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cfi_file: see cfi_file.h.
 */
#include "cfi_file.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* All segments where a loader would put them, for as long as we live; NULL: it cannot be done. */
static const uint8_t *image_load(Elf *elf, const uint8_t *file, size_t size, size_t count)
{
    uint64_t end = 0;
    GElf_Phdr ph;
    for (size_t i = 0; i < count; i++) {
        if (gelf_getphdr(elf, (int)i, &ph) == NULL || ph.p_type != PT_LOAD)
            continue;
        if (ph.p_offset > size || ph.p_filesz > size - ph.p_offset || ph.p_vaddr > UINT32_MAX)
            return NULL;
        end = ph.p_vaddr + ph.p_filesz > end ? ph.p_vaddr + ph.p_filesz : end;
    }
    uint8_t *image = calloc(1, end);
    for (size_t i = 0; image != NULL && i < count; i++) {
        if (gelf_getphdr(elf, (int)i, &ph) != NULL && ph.p_type == PT_LOAD)
            memcpy(image + ph.p_vaddr, file + ph.p_offset, ph.p_filesz);
    }
    return image;
}

/* The unwind data are in another segment than their table. */
static bool section_open_apart(Elf *elf, uint64_t frames, size_t count, uint64_t hdr, uint64_t hdr_size,
                               struct cfi_section *section)
{
    size_t size;
    GElf_Phdr ph;
    const uint8_t *file = (const uint8_t *)elf_rawfile(elf, &size),
                  *image = image_load(elf, file, size, count);
    for (size_t i = 0; image != NULL && i < count; i++) {
        if (gelf_getphdr(elf, (int)i, &ph) == NULL || ph.p_type != PT_LOAD || frames < ph.p_vaddr ||
            frames - ph.p_vaddr >= ph.p_filesz)
            continue;
        *section = (struct cfi_section){.hdr = image + hdr,
                                        .hdr_size = hdr_size,
                                        .lo = image + ph.p_vaddr,
                                        .hi = image + ph.p_vaddr + ph.p_filesz,
                                        .bias = -(intptr_t)(uintptr_t)image};
        return true;
    }
    return false;
}

bool cfi_file_open(Elf *elf, uint64_t address, struct cfi_section *section)
{
    size_t size;
    size_t count;
    GElf_Phdr ph;
    uint64_t hdr_size = 0, frames = address;
    const uint8_t *image = (const uint8_t *)elf_rawfile(elf, &size);
    if (image == NULL || elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (gelf_getphdr(elf, (int)i, &ph) != NULL && ph.p_type == PT_GNU_EH_FRAME) {
            address = ph.p_vaddr;
            hdr_size = ph.p_memsz;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (gelf_getphdr(elf, (int)i, &ph) == NULL || ph.p_type != PT_LOAD || address < ph.p_vaddr ||
            address - ph.p_vaddr >= ph.p_filesz || ph.p_offset > size || ph.p_filesz > size - ph.p_offset)
            continue;
        if (hdr_size != 0 && hdr_size <= ph.p_filesz - (address - ph.p_vaddr) &&
            (frames < ph.p_vaddr || frames - ph.p_vaddr >= ph.p_filesz))
            return section_open_apart(elf, frames, count, address, hdr_size, section);
        const uint8_t *lo = image + ph.p_offset;
        const uint8_t *found = lo + (address - ph.p_vaddr);
        *section = (struct cfi_section){.lo = lo, .hi = lo + ph.p_filesz, .hdr_size = hdr_size};
        section->bias = (intptr_t)(ph.p_vaddr - (uint64_t)(uintptr_t)lo);
        *(hdr_size != 0 ? &section->hdr : &section->eh_frame) = found;
        return true;
    }
    return false;
}

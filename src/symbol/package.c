/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * package: see package.h.
 *
 *     .debug_cu_index    version (2: 4 bytes; 5: 2 bytes and 2 of padding), columns, units, slots, 4 bytes each
 *                        slots x 8: ids     slots x 4: rows, counted from 1
 *                        columns x 4: which section a column is about
 *                        units x columns x 4: offsets     units x columns x 4: lengths
 *
 * 1. Whatever the index says lies within the sections, or the package is not opened.
 * 2. No section but the index is touched before a unit is wanted: a package may have gigabytes.
 *
 * Units of types have an index of their own, which is not read: nothing that is asked for leads to them.
 */
#include "symbol/package.h"

#include <string.h>

enum {
    PACKAGE_GNU = 2,
    PACKAGE_DWARF5 = 5,
    PACKAGE_HEADER = 16,
    PACKAGE_COLUMNS_MAX = 64,
};

/* How the index calls a part (the two versions agree up to 6), and where it is. */
static const struct {
    uint32_t number;
    uint32_t version; /* of the index; 0 = any */
    const char *section;
} package_names[PACKAGE_PARTS] = {
    [PACKAGE_INFO] = {1, 0, ".debug_info.dwo"},
    [PACKAGE_ABBREV] = {3, 0, ".debug_abbrev.dwo"},
    [PACKAGE_STR_OFFSETS] = {6, 0, ".debug_str_offsets.dwo"},
    [PACKAGE_RNGLISTS] = {8, PACKAGE_DWARF5, ".debug_rnglists.dwo"},
};

uint64_t package_number(const struct package *p, const uint8_t *bytes, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value = value << 8 | bytes[p->is_big_endian ? i : width - 1 - i];
    return value;
}

static uint32_t package_word(const struct package *p, const uint8_t *table, size_t index)
{
    return (uint32_t)package_number(p, table + index * 4, 4);
}

static int package_is_damaged(const struct package *p, const char *what, struct err *err)
{
    return err_set(err, ERR_INPUT, "%s is damaged: %s.", p->file.path, what);
}

/* ----------------------------------------------------------------------- index */

static int package_find_columns(struct package *p, const uint8_t *titles, uint32_t version, struct err *err)
{
    for (unsigned part = 0; part < PACKAGE_PARTS; part++) {
        p->column[part] = p->columns;
        if (package_names[part].version != 0 && package_names[part].version != version)
            continue;
        for (uint32_t i = 0; i < p->columns; i++)
            if (package_word(p, titles, i) == package_names[part].number)
                p->column[part] = i;
    }
    if (p->units > 0 && (p->column[PACKAGE_INFO] == p->columns || p->column[PACKAGE_ABBREV] == p->columns))
        return package_is_damaged(p, "its index does not say where units are", err);
    return 0;
}

static int package_read_index(struct package *p, const uint8_t *bytes, size_t length, struct err *err)
{
    if (length < PACKAGE_HEADER)
        return package_is_damaged(p, "its index is cut", err);
    uint32_t version = (uint32_t)package_number(p, bytes, 4);
    if (version != PACKAGE_GNU)
        version = (uint32_t)package_number(p, bytes, 2);
    if (version != PACKAGE_GNU && version != PACKAGE_DWARF5)
        return err_set(err, ERR_INPUT, "%s has an index of version %u, which is not known.", p->file.path,
                       version);
    p->columns = package_word(p, bytes, 1);
    p->units = package_word(p, bytes, 2);
    p->slots = package_word(p, bytes, 3);
    if (p->columns > PACKAGE_COLUMNS_MAX || (p->slots & (p->slots - 1)) != 0 || p->units > p->slots)
        return package_is_damaged(p, "its index makes no sense", err);
    uint64_t cells = (uint64_t)p->units * p->columns;
    if ((uint64_t)p->slots * 12 + p->columns * UINT64_C(4) + cells * 8 > length - PACKAGE_HEADER)
        return package_is_damaged(p, "its index is cut", err);
    p->ids = bytes + PACKAGE_HEADER;
    p->rows = p->ids + (size_t)p->slots * 8;
    const uint8_t *titles = p->rows + (size_t)p->slots * 4;
    p->offsets = titles + (size_t)p->columns * 4;
    p->lengths = p->offsets + cells * 4;
    return package_find_columns(p, titles, version, err);
}

/* Bytes of a section, unpacked. */
static uint64_t package_size(Elf_Scn *section)
{
    GElf_Shdr header;
    GElf_Chdr packed;
    if (section == NULL || gelf_getshdr(section, &header) == NULL || header.sh_type == SHT_NOBITS)
        return 0;
    if ((header.sh_flags & SHF_COMPRESSED) == 0)
        return header.sh_size;
    return gelf_getchdr(section, &packed) != NULL ? packed.ch_size : 0;
}

static int package_check_rows(struct package *p, struct err *err)
{
    for (unsigned part = 0; part < PACKAGE_PARTS; part++) {
        p->section[part] = elffile_find_section(&p->file, package_names[part].section, NULL);
        uint64_t size = package_size(p->section[part]);
        for (size_t i = 0; p->column[part] < p->columns && i < p->units; i++) {
            size_t cell = i * p->columns + p->column[part];
            uint64_t end = (uint64_t)package_word(p, p->offsets, cell) + package_word(p, p->lengths, cell);
            if (end > size)
                return package_is_damaged(p, "a unit lies outside its section", err);
        }
    }
    p->strings = elffile_find_section(&p->file, ".debug_str.dwo", NULL);
    return 0;
}

/* --------------------------------------------------------------------- opening */

/* A section that is packed is unpacked whole, which elffile has found bearable. */
static int package_load_section(struct package *p, Elf_Scn *section, struct package_bytes *to,
                                struct err *err)
{
    GElf_Shdr header;
    if (section == NULL)
        return 0;
    if (gelf_getshdr(section, &header) == NULL ||
        ((header.sh_flags & SHF_COMPRESSED) != 0 && elf_compress(section, 0, 0) < 0))
        return package_is_damaged(p, "a section cannot be unpacked", err);
    to->bytes = elffile_get_bytes(section, &to->length);
    return 0;
}

static int package_judge(struct package *p, struct err *err)
{
    GElf_Ehdr header;
    struct package_bytes index = {0};
    Elf_Scn *section = elffile_find_section(&p->file, ".debug_cu_index", NULL);
    int code = package_load_section(p, section, &index, err);
    if (code != 0)
        return code;
    if (gelf_getehdr(p->file.elf, &header) == NULL || index.bytes == NULL)
        return package_is_damaged(p, "it has no index of units", err);
    p->is_big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
    code = package_read_index(p, index.bytes, index.length, err);
    return code != 0 ? code : package_check_rows(p, err);
}

int package_open(struct package *p, const char *path, struct err *err)
{
    *p = (struct package){0};
    int code = elffile_open(&p->file, path, err);
    if (code == 0)
        code = package_judge(p, err);
    if (code != 0)
        package_close(p);
    return code;
}

void package_close(struct package *p)
{
    elffile_close(&p->file);
    *p = (struct package){0};
}

/* --------------------------------------------------------------------- finding */

/* The row of a unit, counted from 1; 0: none.  The index is a hash table with a second hash for the step. */
static uint32_t package_row(const struct package *p, uint64_t id)
{
    uint64_t mask = (uint64_t)p->slots - 1, step = ((id >> 32) & mask) | 1;
    for (uint64_t at = id & mask, tries = 0; tries < p->slots; at = (at + step) & mask, tries++) {
        uint32_t row = package_word(p, p->rows, at);
        if (row == 0)
            return 0;
        if (package_number(p, p->ids + at * 8, 8) == id)
            return row <= p->units ? row : 0;
    }
    return 0;
}

bool package_has(const struct package *p, uint64_t id)
{
    return package_row(p, id) != 0;
}

static int package_load(struct package *p, struct err *err)
{
    int code = p->is_loaded ? 0 : package_load_section(p, p->strings, &p->text, err);
    for (unsigned part = 0; code == 0 && !p->is_loaded && part < PACKAGE_PARTS; part++)
        code = package_load_section(p, p->section[part], &p->part[part], err);
    p->is_loaded = code == 0;
    return code;
}

int package_find(struct package *p, uint64_t id, struct package_bytes parts[PACKAGE_PARTS], struct err *err)
{
    uint32_t row = package_row(p, id);
    if (row == 0)
        return err_set(err, ERR_ABSENT, "%s has no unit %016llx.", p->file.path, (unsigned long long)id);
    int code = package_load(p, err);
    for (unsigned part = 0; code == 0 && part < PACKAGE_PARTS; part++) {
        parts[part] = (struct package_bytes){0};
        if (p->column[part] == p->columns)
            continue;
        size_t cell = (size_t)(row - 1) * p->columns + p->column[part];
        uint64_t offset = package_word(p, p->offsets, cell), length = package_word(p, p->lengths, cell);
        if (offset + length > p->part[part].length)
            return package_is_damaged(p, "a section is shorter than it says", err);
        if (length > 0)
            parts[part] = (struct package_bytes){p->part[part].bytes + offset, (size_t)length};
    }
    return code;
}

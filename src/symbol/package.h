/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * package: a .dwp file: what -gsplit-dwarf put into many .dwo files, in one, with
 * an index by the id of the unit.  Version 2 of the index is that of GNU (DWARF 4), version 5 that of DWARF 5.
 *
 * The file is mapped, and only the index is read when it is opened.
 */
#ifndef HW_SYMBOL_PACKAGE_H
#define HW_SYMBOL_PACKAGE_H

#include "symbol/elffile.h"
#include "tool/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is read of a unit.  Where variables are, macros and lines are not. */
enum package_part {
    PACKAGE_INFO,
    PACKAGE_ABBREV,
    PACKAGE_STR_OFFSETS,
    PACKAGE_RNGLISTS,
    PACKAGE_PARTS,
};

struct package_bytes {
    const uint8_t *bytes; /* NULL = none */
    size_t length;
};

struct package {
    struct elffile file; /* file.elf NULL: not open */
    bool is_big_endian;
    uint32_t columns, units, slots;
    const uint8_t *ids;               /* slots x 8 bytes: a hash table */
    const uint8_t *rows;              /* slots x 4: which row, counted from 1, 0 = none */
    const uint8_t *offsets, *lengths; /* units x columns x 4 */
    uint32_t column[PACKAGE_PARTS];   /* `columns` = none */
    Elf_Scn *section[PACKAGE_PARTS];  /* NULL = none */
    Elf_Scn *strings;
    struct package_bytes part[PACKAGE_PARTS]; /* whole sections, once they are loaded */
    struct package_bytes text;                /* .debug_str.dwo, which all units share */
    bool is_loaded;
};

/* Opens it and checks its index.  ERR_ABSENT, ERR_IO, ERR_INPUT, ERR_LIMIT, ERR_MEMORY. */
int package_open(struct package *p, const char *path, struct err *err);
/* Accepts a zeroed one. */
void package_close(struct package *p);

bool package_has(const struct package *p, uint64_t id);
/* The parts of a unit, valid as long as the package.  ERR_ABSENT: it has no such unit; ERR_INPUT, ERR_MEMORY. */
int package_find(struct package *p, uint64_t id, struct package_bytes parts[PACKAGE_PARTS], struct err *err);

/* A number of 1 to 8 bytes in the package's byte order. */
uint64_t package_number(const struct package *p, const uint8_t *bytes, unsigned width);

#endif

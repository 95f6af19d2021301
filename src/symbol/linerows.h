/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * linerows: the line table of a unit without the code that the linker has dropped.
 *
 * What is dropped (--gc-sections) stays in the table, from address 0 on.  libdw sorts all rows by address, so that where
 * a dropped function is longer than the distance from 0 to the code, its rows lie among those of the code there.
 */
#ifndef HW_SYMBOL_LINEROWS_H
#define HW_SYMBOL_LINEROWS_H

#include "symbol/die.h"
#include "symbol/elffile.h"
#include "tool/vec.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct linerow {
    uint64_t address;
    uint32_t number; /* in the table; of two with one address the later counts */
    uint32_t file;
    uint32_t line;
    bool is_end; /* the address is the first behind a stretch of code */
};

struct linerows {
    VEC(struct linerow) list;
};

void linerows_release(struct linerows *r);

/* Reads the rows of code from the table of a unit of this file, once.  Of a table that makes no sense those before that
 * place are taken.  A step of the limits for each operation. */
void linerows_read(struct linerows *r, const struct elffile *file, Dwarf_Die *unit, struct die_limits *l);
/* The same of the bytes of .debug_line from the unit's table on. */
void linerows_parse(struct linerows *r, const uint8_t *bytes, size_t length, struct die_limits *l);

/* The row of an address; NULL = none. */
const struct linerow *linerows_find(const struct linerows *r, uint64_t address);

#endif

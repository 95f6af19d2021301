/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * symtab: functions by address, from the symbol tables of a program.
 *
 * Taken are symbols of code: functions, indirect functions, and labels without
 * a type.  Of several at one address one is kept (symtab.c says which).  Symbols
 * with a size hold exactly that; one without a size reaches to the next symbol or
 * the end of its section, where no other symbol holds the address.
 */
#ifndef HW_SYMBOL_SYMTAB_H
#define HW_SYMBOL_SYMTAB_H

#include "symbol/elffile.h"
#include "symbol/span.h"
#include "tool/arena.h"
#include "tool/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct symbol {
    uint64_t address;
    uint64_t size;
    uint64_t end;     /* of its section */
    const char *name; /* in the file or in the arena */
    uint8_t rank;     /* greater is better, for equal addresses */
};

struct symtab {
    VEC(struct symbol) symbols;
    uint64_t libc,
        libc_end; /* where the C library begins in a program that is linked statically; 0, 0: it is not */
    bool has_main;
    struct spans spans;
    struct arena texts; /* names that are in no file */
};

void symtab_release(struct symtab *t);
/* Adds the full symbol table of a file (.symtab) or, with `dynamic`, the one
 * for the loader (.dynsym).  False: it has none. */
bool symtab_add(struct symtab *t, const struct elffile *f, bool dynamic);
/* Adds name@plt for the stubs through which a file calls others. */
void symtab_add_stubs(struct symtab *t, const struct elffile *f);
/* To be called after the last addition and before the first find. */
void symtab_seal(struct symtab *t);
/* The name as the linker knows it, with a version behind '@' perhaps; NULL: none. */
const char *symtab_find(const struct symtab *t, uint64_t address);
/* Is this code of the C library that is linked into a program? */
bool symtab_is_libc(const struct symtab *t, uint64_t address);

#endif

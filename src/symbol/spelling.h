/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * spelling: what functions and files are called, each worked out once.
 */
#ifndef HW_SYMBOL_SPELLING_H
#define HW_SYMBOL_SPELLING_H

#include "symbol/scope.h"
#include "tool/arena.h"
#include "tool/map.h"
#include "tool/strbuf.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct spelling_name {
    const char *function; /* demangled; "" = not known */
    const char *linkage;  /* "" = the same, or not known */
};

struct spelling {
    struct arena arena;  /* all texts */
    struct map linkages; /* of a linkage name in a section -> struct spelling_name */
    struct map entries;  /* the same of an entry without linkage name */
    struct map files;    /* of a path in libdw -> its normal form */
    struct scopes scopes;
    unsigned functions; /* that are being spelt, one for the name of the other */
};

void spelling_init(struct spelling *n);
void spelling_release(struct spelling *n);

/* All results live as long as naming; none is NULL.  Keys are the addresses of
 * what is passed, which must live as long too, or until it is told to forget them. */
void spelling_forget(struct spelling *n);

/* Tells what the symbol of a compiled function is, which helps where its entry
 * has no linkage name.  To be called before its name is asked for. */
void spelling_teach(struct spelling *n, Dwarf_Die *die, const char *symbol);
/* Does this unit have functions that spelling_teach() may help? */
bool spelling_is_teachable(Dwarf_Die *unit);

/* Of Rust: linkage names call the body of an async function a closure, and entries what it is: of "a::f::{closure#0}" and
 * "{async_fn#0}" adds "a::f::{async_fn#0}".  False: they are nothing of the kind. */
bool spelling_add_async(struct strbuf *out, const char *function, const char *own);
/* What a function or an inlined call is called. */
const struct spelling_name *spelling_entry(struct spelling *n, Dwarf_Die *die);
/* The same of a symbol; a version behind '@' is left out, @plt is kept. */
const struct spelling_name *spelling_symbol(struct spelling *n, const char *symbol);
/* The path of a source file in the unit that names it: from the folder where it was
 * compiled on, without "//", "/./" and "folder/../". */
const char *spelling_file(struct spelling *n, Dwarf_Die *unit, const char *path);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * die: walking the tree of DWARF entries within limits.
 *
 * Entries of a sound file are visited a few times at most.  A made-up file can
 * ask for more: a million entries that share one list of a million ranges,
 * siblings that are walked again from every name.  So each step is paid for
 * from an allowance that grows with the file; when it is spent, walks end early
 * and what they would have found is not known.
 */
#ifndef HW_SYMBOL_DIE_H
#define HW_SYMBOL_DIE_H

#include "symbol/span.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum { DIE_DEPTH_MAX = 256 };

struct die_limits {
    uint64_t steps;               /* left */
    uint64_t text_low, text_high; /* ranges elsewhere belong to code that the linker dropped */
};

/* For a file whose debugging information has this many bytes. */
void die_limits_init(struct die_limits *l, uint64_t bytes);
/* And for this many more, which were found elsewhere. */
void die_limits_add(struct die_limits *l, uint64_t bytes);

/* Takes one step; false: none is left. */
bool die_limits_take(struct die_limits *l);

/* The first child; false: none. */
bool die_child(struct die_limits *l, Dwarf_Die *parent, Dwarf_Die *child);
/* From an entry to the next of the same parent; false: none. */
bool die_next(struct die_limits *l, Dwarf_Die *die);
/* Adds the addresses of an entry to spans; false: it has none. */
bool die_add_ranges(struct die_limits *l, Dwarf_Die *die, struct spans *spans, uint32_t value);

/* Where a function is entered; false: it is not compiled. */
bool die_find_entry(Dwarf_Die *die, uint64_t *address);

/* The value of an attribute of the entry or of those it is an instance of; 0, NULL = none. */
uint64_t die_number(Dwarf_Die *die, unsigned attribute);
const char *die_text(Dwarf_Die *die, unsigned attribute);
/* The entry that an attribute points to; false: none. */
bool die_follow(Dwarf_Die *die, unsigned attribute, Dwarf_Die *to);

#endif

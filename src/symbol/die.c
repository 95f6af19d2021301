/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * die: see die.h.  libdw checks that siblings lie further on in the file, and that
 * references stay inside it.
 */
#include "symbol/die.h"

enum {
    DIE_STEPS_PER_BYTE = 8,
    DIE_STEPS_FREE = 1 << 20,
};

void die_limits_init(struct die_limits *l, uint64_t bytes)
{
    l->steps = DIE_STEPS_FREE;
    l->text_low = 0;
    l->text_high = UINT64_MAX;
    die_limits_add(l, bytes);
}

void die_limits_add(struct die_limits *l, uint64_t bytes)
{
    uint64_t steps;
    if (__builtin_mul_overflow(bytes, DIE_STEPS_PER_BYTE, &steps) ||
        __builtin_add_overflow(l->steps, steps, &l->steps))
        l->steps = UINT64_MAX;
}

bool die_limits_take(struct die_limits *l)
{
    if (l->steps == 0)
        return false;
    l->steps--;
    return true;
}

bool die_child(struct die_limits *l, Dwarf_Die *parent, Dwarf_Die *child)
{
    return die_limits_take(l) && dwarf_child(parent, child) == 0;
}

bool die_next(struct die_limits *l, Dwarf_Die *die)
{
    return die_limits_take(l) && dwarf_siblingof(die, die) == 0;
}

bool die_add_ranges(struct die_limits *l, Dwarf_Die *die, struct spans *spans, uint32_t value)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;
    bool any = false;
    while (die_limits_take(l) && (at = dwarf_ranges(die, at, &base, &low, &high)) > 0)
        if (low >= l->text_low && low < l->text_high && high <= l->text_high)
            any = spans_add(spans, low, high, value) || any;
    return any;
}

/* libdw knows no entry of a function whose cold part lies elsewhere: there the first range begins with it. */
bool die_find_entry(Dwarf_Die *die, uint64_t *address)
{
    Dwarf_Addr base, low, high;
    bool found = dwarf_entrypc(die, &low) == 0 || dwarf_ranges(die, 0, &base, &low, &high) > 0;
    if (found)
        *address = low;
    return found;
}

uint64_t die_number(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute found;
    Dwarf_Word value;
    if (dwarf_attr_integrate(die, attribute, &found) == NULL || dwarf_formudata(&found, &value) != 0)
        return 0;
    return value;
}

const char *die_text(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute found;
    return dwarf_attr_integrate(die, attribute, &found) != NULL ? dwarf_formstring(&found) : NULL;
}

bool die_follow(Dwarf_Die *die, unsigned attribute, Dwarf_Die *to)
{
    Dwarf_Attribute found;
    return dwarf_attr(die, attribute, &found) != NULL && dwarf_formref_die(&found, to) != NULL;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * function: one compiled function and the calls that were inlined into it.
 */
#ifndef HW_SYMBOL_FUNCTION_H
#define HW_SYMBOL_FUNCTION_H

#include "symbol/die.h"
#include "symbol/span.h"
#include "tool/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inlined {
    Dwarf_Die die;
    uint32_t around; /* index of the inlined call around it, SPAN_NONE = the function itself */
};

struct function {
    Dwarf_Die die;
    bool is_read; /* the next two are filled */
    VEC(struct inlined) inlined;
    struct spans spans;
};

void function_init(struct function *f, const Dwarf_Die *die);
void function_release(struct function *f);

/* The entries at an address, innermost first: inlined calls, then the function
 * itself.  At most `room` of them; when there are more, inner ones are left out.  The number of them. */
size_t function_find(struct function *f, struct die_limits *l, uint64_t address, Dwarf_Die *dies,
                     size_t room);

#endif

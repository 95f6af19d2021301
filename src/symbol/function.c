/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * function: see function.h.  The tree below a function is read when its first
 * address is asked for, all at once.
 */
#include "symbol/function.h"

void function_init(struct function *f, const Dwarf_Die *die)
{
    *f = (struct function){.die = *die};
}

void function_release(struct function *f)
{
    vec_release(&f->inlined);
    spans_release(&f->spans);
}

static void function_read(struct function *f, struct die_limits *l, Dwarf_Die *parent, uint32_t around,
                          unsigned depth)
{
    Dwarf_Die child;
    if (depth > DIE_DEPTH_MAX || !die_child(l, parent, &child))
        return;
    do {
        switch (dwarf_tag(&child)) {
        case DW_TAG_inlined_subroutine: {
            uint32_t index = (uint32_t)f->inlined.count;
            if (index == SPAN_NONE ||
                !vec_push(&f->inlined, ((struct inlined){.die = child, .around = around})))
                return;
            (void)die_add_ranges(l, &child, &f->spans, index);
            function_read(f, l, &child, index, depth + 1);
            break;
        }
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
        case DW_TAG_with_stmt:
            function_read(f, l, &child, around, depth + 1);
            break;
        default:
            break;
        }
    } while (die_next(l, &child));
}

size_t function_find(struct function *f, struct die_limits *l, uint64_t address, Dwarf_Die *dies, size_t room)
{
    if (!f->is_read) {
        function_read(f, l, &f->die, SPAN_NONE, 0);
        spans_seal(&f->spans);
        f->is_read = true;
    }
    uint32_t innermost = spans_find(&f->spans, address);
    size_t depth = 1;
    for (uint32_t i = innermost; i != SPAN_NONE; i = f->inlined.data[i].around)
        depth++;
    for (; depth > room; depth--)
        innermost = f->inlined.data[innermost].around;
    size_t count = 0;
    for (uint32_t i = innermost; i != SPAN_NONE; i = f->inlined.data[i].around)
        dies[count++] = f->inlined.data[i].die;
    dies[count++] = f->die;
    return count;
}

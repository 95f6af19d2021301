/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * linerows: see linerows.h.  The names of the files are left to libdw, so of the header only what the program needs
 * is read:
 *
 *     length (4, or ffffffff and 8)   version (2)   5: address size, segment selector size
 *     length of the header (4 or 8)   smallest instruction   4, 5: operations   is_stmt
 *     line base (signed)   line range   opcode base   operands of each standard opcode   (folders and files)
 *     the program
 *
 * A row costs at least one byte of the program.
 */
#include "symbol/linerows.h"

#include "base/cursor.h"
#include "base/sorted.h"

#include <dwarf.h>
#include <stdlib.h>

struct linetable {
    struct cursor program;
    const uint8_t *operands; /* of each standard opcode, from 1 on */
    uint8_t step, operations, range, base;
    int8_t line_base;
    /* The state machine. */
    uint64_t address;
    uint32_t operation, file, line;
    size_t first; /* row of the present stretch */
};

void linerows_release(struct linerows *r)
{
    vec_release(&r->list);
}

/* --------------------------------------------------------------------- reading */

static bool linetable_open(struct linetable *t, const uint8_t *bytes, size_t length)
{
    struct cursor c;
    cursor_init(&c, bytes, length);
    uint64_t size = cursor_u32(&c);
    unsigned width = size == UINT32_MAX ? 8 : 4;
    if (width == 8)
        size = cursor_u64(&c);
    if (size > cursor_left(&c))
        return false;
    cursor_init(&c, c.at, (size_t)size);
    unsigned version = cursor_u16(&c);
    if (version >= 5)
        cursor_skip(&c, 2);
    uint64_t rest = cursor_le(&c, width);
    if (version < 2 || version > 5 || rest > cursor_left(&c))
        return false;
    cursor_init(&t->program, c.at + rest, cursor_left(&c) - (size_t)rest);
    t->step = cursor_u8(&c);
    t->operations = version >= 4 ? cursor_u8(&c) : 1;
    cursor_skip(&c, 1);
    t->line_base = (int8_t)cursor_u8(&c);
    t->range = cursor_u8(&c);
    t->base = cursor_u8(&c);
    t->operands = t->base > 0 ? cursor_take(&c, t->base - 1U) : NULL;
    return !cursor_is_bad(&c) && t->operands != NULL && t->range != 0 && t->operations != 0;
}

static void linetable_begin(struct linetable *t, size_t first)
{
    t->address = 0;
    t->operation = 0;
    t->file = t->line = 1;
    t->first = first;
}

static void linetable_advance(struct linetable *t, uint64_t operations)
{
    uint64_t sum = t->operation + operations;
    t->address += t->step * (sum / t->operations);
    t->operation = (uint32_t)(sum % t->operations);
}

static bool linerows_add(struct linerows *r, const struct linetable *t, bool is_end)
{
    size_t number = r->list.count;
    return number < UINT32_MAX &&
           vec_push(&r->list, ((struct linerow){t->address, (uint32_t)number, t->file, t->line, is_end}));
}

/* A stretch ends; it is dropped unless it is code.  False: no memory. */
static bool linerows_end(struct linerows *r, struct linetable *t, const struct die_limits *l)
{
    if (r->list.count > t->first &&
        (r->list.data[t->first].address < l->text_low || r->list.data[t->first].address >= l->text_high))
        r->list.count = t->first;
    else if (r->list.count > t->first && !linerows_add(r, t, true))
        return false;
    linetable_begin(t, r->list.count);
    return true;
}

static bool linerows_extended(struct linerows *r, struct linetable *t, const struct die_limits *l)
{
    struct cursor c = t->program;
    uint64_t length = cursor_uleb(&c);
    const uint8_t *bytes = length <= cursor_left(&c) ? cursor_take(&c, (size_t)length) : NULL;
    t->program = c;
    if (bytes == NULL)
        return false;
    cursor_init(&c, bytes, (size_t)length);
    switch (cursor_u8(&c)) {
    case DW_LNE_end_sequence:
        return linerows_end(r, t, l);
    case DW_LNE_set_address:
        if (length != 5 && length != 9)
            return false;
        t->address = cursor_le(&c, (unsigned)length - 1);
        t->operation = 0;
        return true;
    default:
        return true;
    }
}

static bool linerows_standard(struct linerows *r, struct linetable *t, unsigned opcode)
{
    struct cursor *c = &t->program;
    switch (opcode) {
    case DW_LNS_copy:
        return linerows_add(r, t, false);
    case DW_LNS_advance_pc:
        linetable_advance(t, cursor_uleb(c));
        return true;
    case DW_LNS_advance_line:
        t->line += (uint32_t)cursor_sleb(c);
        return true;
    case DW_LNS_set_file:
        t->file = (uint32_t)cursor_uleb(c);
        return true;
    case DW_LNS_const_add_pc:
        linetable_advance(t, (255U - t->base) / t->range);
        return true;
    case DW_LNS_fixed_advance_pc:
        t->address += cursor_u16(c);
        t->operation = 0;
        return true;
    default:
        for (unsigned i = 0; i < t->operands[opcode - 1]; i++)
            (void)cursor_uleb(c);
        return true;
    }
}

static bool linerows_step(struct linerows *r, struct linetable *t, const struct die_limits *l)
{
    unsigned opcode = cursor_u8(&t->program);
    if (opcode == 0)
        return linerows_extended(r, t, l);
    if (opcode < t->base)
        return linerows_standard(r, t, opcode);
    opcode -= t->base;
    linetable_advance(t, opcode / t->range);
    t->line += (uint32_t)(t->line_base + (int)(opcode % t->range));
    return linerows_add(r, t, false);
}

/* Of two stretches that touch, the end of one comes before the beginning of the other. */
static int linerow_compare(const void *left, const void *right)
{
    const struct linerow *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->is_end != b->is_end)
        return a->is_end ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

void linerows_parse(struct linerows *r, const uint8_t *bytes, size_t length, struct die_limits *l)
{
    struct linetable t = {0};
    if (!linetable_open(&t, bytes, length))
        return;
    linetable_begin(&t, 0);
    while (cursor_left(&t.program) > 0 && die_limits_take(l) && linerows_step(r, &t, l))
        ;
    r->list.count = t.first; /* without a stretch that has no end */
    if (r->list.count > 0)
        qsort(r->list.data, r->list.count, sizeof *r->list.data, linerow_compare);
}

void linerows_read(struct linerows *r, const struct elffile *file, Dwarf_Die *unit, struct die_limits *l)
{
    Dwarf_Attribute attribute;
    Dwarf_Word offset;
    GElf_Ehdr header;
    size_t length;
    Elf_Scn *section = elffile_find_section(file, ".debug_line", NULL);
    if (section == NULL)
        section = elffile_find_section(file, ".zdebug_line", NULL);
    const uint8_t *bytes = section != NULL ? elffile_get_bytes(section, &length) : NULL;
    if (bytes != NULL && gelf_getehdr(file->elf, &header) != NULL && header.e_ident[EI_DATA] == ELFDATA2LSB &&
        dwarf_attr(unit, DW_AT_stmt_list, &attribute) != NULL && dwarf_formudata(&attribute, &offset) == 0 &&
        offset <= length)
        linerows_parse(r, bytes + offset, length - (size_t)offset, l);
}

/* --------------------------------------------------------------------- finding */

const struct linerow *linerows_find(const struct linerows *r, uint64_t address)
{
    size_t begin = sorted_up_to_by(r->list.data, r->list.count, address, address);
    return begin > 0 && !r->list.data[begin - 1].is_end ? &r->list.data[begin - 1] : NULL;
}

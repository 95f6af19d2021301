/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cfi: runs call frame instructions up to a pc.
 *
 * The instructions of a CIE and then of an FDE build a table whose rows are pc
 * ranges and whose columns are registers; we keep one row, the one being built,
 * and stop as soon as an instruction moves the location past pc.
 *
 *     struct cfi_slot    31 ............ 3 | 2 .. 0      8 of them and the CFA
 *                          signed value    |  kind       make a state of 44 bytes
 *
 * Invariants
 *  1. row->start <= pc at all times, and pc < row->end at the end.
 *  2. An expression is held as the distance of its length byte from row->origin
 *     (the FDE's first instruction); it was found to lie inside its record.
 *     cfi_row_expr looks again: bytes that a program announced may be replaced.
 *
 * Refused: more than CFI_REMEMBER_DEPTH nested DW_CFA_remember_state (compilers
 * nest none), values that do not fit (saved registers more than 256 MiB from the
 * CFA), and instructions we do not know.
 */
#include "probe/unwind/cfi.h"

#include "base/cursor.h"
#include "probe/unwind/cfi_entry.h"
#include "probe/unwind/cfi_opcode.h"
#include "probe/unwind/cfi_pointer.h"
#include "probe/unwind/cfi_table.h"

enum {
    CFI_REMEMBER_DEPTH = 4,
    CFI_VALUE_MAX = (1 << 28) - 1,
    CFI_VALUE_MIN = -(1 << 28),
};

_Static_assert(sizeof(struct cfi_state) <= 44, "states are kept on somebody else's stack");

struct run {
    const struct cfi_section *section;
    const struct cfi_entry *entry;
    struct cfi_row *row;
    uint64_t pc;
    struct cursor in;
    bool is_initial; /* in the CIE, where the location cannot move */
    bool is_done;    /* the location has passed pc */
    unsigned depth;
    struct cfi_state initial;
    struct cfi_state remembered[CFI_REMEMBER_DEPTH];
};

static enum cfi_status run_move(struct run *r, uint64_t location)
{
    struct cfi_row *row = r->row;
    if (r->is_initial || location < row->start)
        return CFI_BAD;
    if (location <= r->pc) {
        row->start = location;
    } else {
        row->end = location < r->entry->end ? location : r->entry->end;
        r->is_done = true;
    }
    return CFI_OK;
}

static enum cfi_status run_advance(struct run *r, uint64_t units)
{
    uint64_t distance;
    uint64_t location;
    if (__builtin_mul_overflow(units, r->entry->code_align, &distance) ||
        __builtin_add_overflow(r->row->start, distance, &location))
        location = UINT64_MAX;
    return run_move(r, location);
}

static enum cfi_status run_set_loc(struct run *r)
{
    uint64_t location;
    if (!cfi_pointer_read(r->section, &r->in, r->entry->encoding, &location))
        return CFI_UNSUPPORTED;
    return run_move(r, location);
}

static int64_t run_factored(const struct run *r, uint64_t units)
{
    return (int64_t)(units * (uint64_t)r->entry->data_align);
}

/* Steps over an expression and gives its distance from the origin. */
static int64_t run_expression(struct run *r)
{
    int64_t distance = r->in.at - r->row->origin;
    cursor_skip(&r->in, cursor_uleb(&r->in));
    return distance;
}

static enum cfi_status run_register(struct run *r, uint64_t column, enum cfi_kind kind, int64_t value)
{
    unsigned slot = arch_slot(column);
    if (slot == ARCH_SLOT_NONE)
        return CFI_OK;
    if (value < CFI_VALUE_MIN || value > CFI_VALUE_MAX)
        return CFI_UNSUPPORTED;
    r->row->state.slot[slot].word = (int32_t)((uint32_t)value << 3 | (uint32_t)kind);
    return CFI_OK;
}

static enum cfi_status run_restore(struct run *r, uint64_t column)
{
    unsigned slot = arch_slot(column);
    if (r->is_initial)
        return CFI_BAD;
    if (slot != ARCH_SLOT_NONE)
        r->row->state.slot[slot] = r->initial.slot[slot];
    return CFI_OK;
}

static enum cfi_status run_remember(struct run *r)
{
    if (r->depth == CFI_REMEMBER_DEPTH)
        return CFI_UNSUPPORTED;
    r->remembered[r->depth++] = r->row->state;
    return CFI_OK;
}

static enum cfi_status run_recall(struct run *r)
{
    if (r->depth == 0)
        return CFI_BAD;
    r->row->state = r->remembered[--r->depth];
    return CFI_OK;
}

static enum cfi_status run_cfa_register(struct run *r, uint64_t column)
{
    if (column > UINT16_MAX)
        return CFI_UNSUPPORTED;
    r->row->state.cfa.column = (uint16_t)column;
    r->row->state.cfa.kind = CFI_CFA_REGISTER;
    return CFI_OK;
}

static enum cfi_status run_cfa_offset(struct run *r, int64_t offset)
{
    if (offset != (int32_t)offset)
        return CFI_UNSUPPORTED;
    r->row->state.cfa.offset = (int32_t)offset;
    return CFI_OK;
}

static enum cfi_status run_cfa_expression(struct run *r)
{
    int64_t distance = run_expression(r);
    if (distance != (int32_t)distance)
        return CFI_UNSUPPORTED;
    r->row->state.cfa.expression = (int32_t)distance;
    r->row->state.cfa.kind = CFI_CFA_EXPRESSION;
    return CFI_OK;
}

/* Instructions that define the CFA. The standard lets DW_CFA_def_cfa_register and
 * _offset change one half of a register and offset only; after an expression we do
 * what libgcc does, which hand-written code relies on: the register takes over, with
 * the offset of before, and an offset is kept for that moment. */
static enum cfi_status run_cfa_instruction(struct run *r, uint8_t opcode)
{
    struct cursor *in = &r->in;
    enum cfi_status status = CFI_OK;
    if (opcode == DW_CFA_def_cfa_expression)
        return run_cfa_expression(r);
    if (opcode == DW_CFA_def_cfa || opcode == DW_CFA_def_cfa_sf)
        status = run_cfa_register(r, cursor_uleb(in));
    else if (r->row->state.cfa.kind == CFI_CFA_NONE)
        return CFI_BAD;
    if (status != CFI_OK)
        return status;
    if (opcode == DW_CFA_def_cfa_register)
        return run_cfa_register(r, cursor_uleb(in));
    if (opcode == DW_CFA_def_cfa_sf || opcode == DW_CFA_def_cfa_offset_sf)
        return run_cfa_offset(r, run_factored(r, (uint64_t)cursor_sleb(in)));
    return run_cfa_offset(r, (int64_t)cursor_uleb(in));
}

/* Instructions that begin with a column; opcodes we do not know end here too. */
static enum cfi_status run_column_instruction(struct run *r, uint8_t opcode)
{
    struct cursor *in = &r->in;
    uint64_t column = cursor_uleb(in);
    switch (opcode) {
    case DW_CFA_undefined:
        return run_register(r, column, CFI_UNDEFINED, 0);
    case DW_CFA_same_value:
        return run_register(r, column, CFI_SAME, 0);
    case DW_CFA_restore_extended:
        return run_restore(r, column);
    case DW_CFA_register:
        return run_register(r, column, CFI_REGISTER, (int64_t)cursor_uleb(in));
    case DW_CFA_offset_extended:
        return run_register(r, column, CFI_OFFSET, run_factored(r, cursor_uleb(in)));
    case DW_CFA_offset_extended_sf:
        return run_register(r, column, CFI_OFFSET, run_factored(r, (uint64_t)cursor_sleb(in)));
    case DW_CFA_GNU_negative_offset_extended:
        return run_register(r, column, CFI_OFFSET, run_factored(r, 0 - cursor_uleb(in)));
    case DW_CFA_val_offset:
        return run_register(r, column, CFI_VAL_OFFSET, run_factored(r, cursor_uleb(in)));
    case DW_CFA_val_offset_sf:
        return run_register(r, column, CFI_VAL_OFFSET, run_factored(r, (uint64_t)cursor_sleb(in)));
    case DW_CFA_expression:
        return run_register(r, column, CFI_EXPRESSION, run_expression(r));
    case DW_CFA_val_expression:
        return run_register(r, column, CFI_VAL_EXPRESSION, run_expression(r));
    default:
        return CFI_UNSUPPORTED;
    }
}

static enum cfi_status run_instruction(struct run *r)
{
    uint8_t opcode = cursor_u8(&r->in);
    uint8_t operand = opcode & 0x3f;
    switch (opcode & 0xc0) {
    case DW_CFA_advance_loc:
        return run_advance(r, operand);
    case DW_CFA_offset:
        return run_register(r, operand, CFI_OFFSET, run_factored(r, cursor_uleb(&r->in)));
    case DW_CFA_restore:
        return run_restore(r, operand);
    default:
        break;
    }
    switch (opcode) {
    case DW_CFA_nop:
        return CFI_OK;
    case DW_CFA_set_loc:
        return run_set_loc(r);
    case DW_CFA_advance_loc1:
        return run_advance(r, cursor_u8(&r->in));
    case DW_CFA_advance_loc2:
        return run_advance(r, cursor_u16(&r->in));
    case DW_CFA_advance_loc4:
        return run_advance(r, cursor_u32(&r->in));
    case DW_CFA_MIPS_advance_loc8:
        return run_advance(r, cursor_u64(&r->in));
    case DW_CFA_remember_state:
        return run_remember(r);
    case DW_CFA_restore_state:
        return run_recall(r);
    case DW_CFA_GNU_args_size:
        (void)cursor_uleb(&r->in);
        return CFI_OK;
    case DW_CFA_def_cfa:
    case DW_CFA_def_cfa_sf:
    case DW_CFA_def_cfa_register:
    case DW_CFA_def_cfa_offset:
    case DW_CFA_def_cfa_offset_sf:
    case DW_CFA_def_cfa_expression:
        return run_cfa_instruction(r, opcode);
    default:
        return run_column_instruction(r, opcode);
    }
}

static enum cfi_status run_program(struct run *r, const struct cursor *program)
{
    r->in = *program;
    while (!r->is_done && cursor_left(&r->in) > 0) {
        enum cfi_status status = run_instruction(r);
        if (status != CFI_OK)
            return status;
        if (cursor_is_bad(&r->in))
            return CFI_BAD;
    }
    return CFI_OK;
}

/* What holds before the first instruction: the stack pointer of the caller is the
 * CFA, the return address is where the CPU puts it, all else is as it was. */
static void state_init(struct cfi_state *state)
{
    *state = (struct cfi_state){.cfa.kind = CFI_CFA_NONE};
    state->slot[ARCH_SLOT_SP].word = CFI_VAL_OFFSET;
    state->slot[ARCH_SLOT_RA].word = ARCH_RA_OFFSET * 8 | CFI_OFFSET;
}

/* Out of line, so that its states and the records of the search, which is over by
 * then, do not add up on the stack. */
__attribute__((noinline)) static enum cfi_status run_entry(const struct cfi_section *section, uint64_t pc,
                                                           const struct cfi_entry *entry, struct cfi_row *row)
{
    struct run r;
    r.section = section;
    r.entry = entry;
    r.row = row;
    r.pc = pc;
    r.is_initial = true;
    r.is_done = false;
    r.depth = 0;
    state_init(&row->state);
    enum cfi_status status = run_program(&r, &entry->initial);
    if (status != CFI_OK)
        return status;
    r.initial = row->state;
    r.is_initial = false;
    return run_program(&r, &entry->program);
}

enum cfi_status cfi_find_row(const struct cfi_section *section, uint64_t pc, struct cfi_row *row)
{
    struct cfi_entry entry;
    enum cfi_status status = cfi_table_find(section, pc, &entry);
    if (status != CFI_OK)
        return status;
    row->start = row->fde_start = entry.start;
    row->end = row->fde_end = entry.end;
    row->origin = entry.program.at;
    row->limit = section->hi;
    row->is_signal_frame = entry.is_signal_frame;
    status = run_entry(section, pc, &entry, row);
    if (status == CFI_OK && row->state.cfa.kind == CFI_CFA_NONE)
        return CFI_BAD;
    return status;
}

struct cfi_expr cfi_row_expr(const struct cfi_row *row, int32_t value)
{
    struct cursor in;
    cursor_init(&in, row->origin + value, (size_t)(row->limit - (row->origin + value)));
    size_t length = cursor_uleb(&in);
    return (struct cfi_expr){.bytes = in.at, .length = length <= cursor_left(&in) ? length : 0};
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rule: recognises the rows that fit a word. Each shape is matched to the last
 * byte; whatever differs in anything is RULE_COMPLEX, which is slow and right.
 */
#include "probe/unwind/rule.h"

#include "base/cursor.h"
#include "probe/unwind/cfi_opcode.h"

enum {
    RULE_FP_MAX = (1 << 23) - 1,
    RULE_FP_MIN = -(1 << 23),
};

static struct rule rule_make(enum rule_kind kind, int32_t cfa, int32_t fp)
{
    return (struct rule){(uint64_t)(uint32_t)cfa << 32 | (uint32_t)fp << 8 | (uint32_t)kind};
}

static const struct rule rule_complex = {RULE_COMPLEX};

static bool slot_is(struct cfi_slot slot, enum cfi_kind kind, int32_t value)
{
    return cfi_slot_kind(slot) == kind && cfi_slot_value(slot) == value;
}

/* DW_OP_breg<column> offset, at the start of an expression. */
static bool take_breg(struct cursor *in, uint8_t column, int64_t *offset)
{
    if (cursor_u8(in) != DW_OP_breg0 + column)
        return false;
    *offset = cursor_sleb(in);
    return !cursor_is_bad(in);
}

static struct cursor expr_open(const struct cfi_row *row, int32_t value)
{
    struct cfi_expr expr = cfi_row_expr(row, value);
    struct cursor in;
    cursor_init(&in, expr.bytes, expr.length);
    return in;
}

/* Whether a register is saved at another's value plus offset, by expression. */
static bool slot_is_at(const struct cfi_row *row, unsigned slot, uint8_t column, int64_t offset)
{
    struct cfi_slot rule = row->state.slot[slot];
    if (cfi_slot_kind(rule) != CFI_EXPRESSION)
        return false;
    struct cursor in = expr_open(row, cfi_slot_value(rule));
    int64_t found;
    return take_breg(&in, column, &found) && found == offset && cursor_left(&in) == 0;
}

/* Whether the CFA is the word at a register plus *offset. */
static bool cfa_is_at(const struct cfi_row *row, uint8_t column, int64_t *offset)
{
    struct cursor in = expr_open(row, row->state.cfa.expression);
    return take_breg(&in, column, offset) && cursor_u8(&in) == DW_OP_deref && cursor_left(&in) == 0;
}

/* breg7 8, breg16 0, lit15, and, lit<threshold>, ge, lit3, shl, plus: what linkers
 * write for a .plt, with the threshold where their stub has done its push. */
static bool cfa_is_plt(const struct cfi_row *row, int32_t *threshold)
{
    struct cursor in = expr_open(row, row->state.cfa.expression);
    int64_t depth;
    int64_t pc;
    if (!take_breg(&in, ARCH_COLUMN_SP, &depth) || depth != ARCH_PLT_DEPTH ||
        !take_breg(&in, ARCH_COLUMN_RA, &pc) || pc != 0)
        return false;
    if (cursor_u8(&in) != DW_OP_lit0 + ARCH_PLT_STUB - 1 || cursor_u8(&in) != DW_OP_and)
        return false;
    *threshold = cursor_u8(&in) - DW_OP_lit0;
    return *threshold >= 0 && *threshold < ARCH_PLT_STUB && cursor_u8(&in) == DW_OP_ge &&
           cursor_u8(&in) == DW_OP_lit0 + ARCH_PLT_PUSH_SHIFT && cursor_u8(&in) == DW_OP_shl &&
           cursor_u8(&in) == DW_OP_plus && cursor_left(&in) == 0;
}

static bool is_kernel_signal_frame(const struct cfi_row *row)
{
    int64_t offset;
    struct cfi_slot sp = row->state.slot[ARCH_SLOT_SP];
    return row->is_signal_frame && row->state.cfa.kind == CFI_CFA_EXPRESSION &&
           cfa_is_at(row, ARCH_COLUMN_SP, &offset) && offset == ARCH_SIGNAL_SP &&
           (slot_is(sp, CFI_VAL_OFFSET, 0) ||
            slot_is_at(row, ARCH_SLOT_SP, ARCH_COLUMN_SP, ARCH_SIGNAL_SP)) &&
           slot_is_at(row, ARCH_SLOT_FP, ARCH_COLUMN_SP, ARCH_SIGNAL_FP) &&
           slot_is_at(row, ARCH_SLOT_RA, ARCH_COLUMN_SP, ARCH_SIGNAL_RA);
}

/* The fp field for FP unchanged or saved at an offset from the CFA. */
static bool fp_encode(struct cfi_slot slot, int32_t *fp)
{
    *fp = cfi_slot_value(slot);
    if (cfi_slot_kind(slot) == CFI_SAME)
        return true;
    return cfi_slot_kind(slot) == CFI_OFFSET && *fp != 0 && *fp >= RULE_FP_MIN && *fp <= RULE_FP_MAX;
}

static struct rule compile_expression(const struct cfi_row *row)
{
    struct cfi_slot fp_slot = row->state.slot[ARCH_SLOT_FP];
    int32_t threshold;
    if (cfi_slot_kind(fp_slot) == CFI_SAME && cfa_is_plt(row, &threshold))
        return rule_make(RULE_PLT, threshold, 0);

    int64_t offset;
    int32_t fp;
    if (!cfa_is_at(row, ARCH_COLUMN_FP, &offset) || offset != (int32_t)offset)
        return rule_complex;
    if (slot_is_at(row, ARCH_SLOT_FP, ARCH_COLUMN_FP, 0))
        return rule_make(RULE_FP_DEREF, (int32_t)offset, 0);
    if (fp_encode(fp_slot, &fp) && fp != 0)
        return rule_make(RULE_FP_DEREF, (int32_t)offset, fp);
    return rule_complex;
}

struct rule rule_compile(const struct cfi_row *row)
{
    const struct cfi_state *state = &row->state;
    int32_t fp;
    if (cfi_slot_kind(state->slot[ARCH_SLOT_RA]) == CFI_UNDEFINED)
        return rule_make(RULE_END, 0, 0);
    if (is_kernel_signal_frame(row))
        return rule_make(RULE_SIGNAL, 0, 0);
    if (row->is_signal_frame || !slot_is(state->slot[ARCH_SLOT_RA], CFI_OFFSET, ARCH_RA_OFFSET) ||
        !slot_is(state->slot[ARCH_SLOT_SP], CFI_VAL_OFFSET, 0))
        return rule_complex;
    if (state->cfa.kind == CFI_CFA_EXPRESSION)
        return compile_expression(row);
    if (!fp_encode(state->slot[ARCH_SLOT_FP], &fp))
        return rule_complex;
    if (state->cfa.column == ARCH_COLUMN_SP)
        return rule_make(RULE_SP, state->cfa.offset, fp);
    if (state->cfa.column == ARCH_COLUMN_FP)
        return rule_make(RULE_FP, state->cfa.offset, fp);
    return rule_complex;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Which rows become which rule. Rows are made by hand; their expressions lie in one
 * array, each with its length before it.
 */
#include "probe/unwind/rule.h"

#include "probe/unwind/cfi_opcode.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { lit = DW_OP_lit0, breg = DW_OP_breg0 };

static const uint8_t expressions[] = {
    3, breg + 6, 0x70, DW_OP_deref,              /* 0: word at rbp - 16 */
    2, breg + 6, 0,                              /* 4: rbp */
    2, breg + 6, 8,                              /* 7: rbp + 8 */
    4, breg + 7, 0xa0, 1,           DW_OP_deref, /* 10: word at rsp + 160 */
    3, breg + 7, 0xf8, 0,                        /* 15: rsp + 120 */
    3, breg + 7, 0xa0, 1,                        /* 19: rsp + 160 */
    3, breg + 7, 0xa8, 1,                        /* 23: rsp + 168 */
    4, breg + 6, 0x70, DW_OP_deref, DW_OP_nop,   /* 27: as 0, and one operation more */
};

static struct cfi_slot slot(enum cfi_kind kind, int32_t value)
{
    return (struct cfi_slot){value * 8 | (int32_t)kind};
}

/* A row as compilers make them at the entry of a function. */
static struct cfi_row row_of(uint16_t column, int32_t offset)
{
    struct cfi_row row = {.origin = expressions, .limit = expressions + sizeof expressions};
    row.state.cfa = (struct cfi_cfa){.kind = CFI_CFA_REGISTER, .column = column, .offset = offset};
    row.state.slot[ARCH_SLOT_SP] = slot(CFI_VAL_OFFSET, 0);
    row.state.slot[ARCH_SLOT_RA] = slot(CFI_OFFSET, ARCH_RA_OFFSET);
    return row;
}

static struct cfi_row row_by(int32_t expression)
{
    struct cfi_row row = row_of(0, 0);
    row.state.cfa = (struct cfi_cfa){.kind = CFI_CFA_EXPRESSION, .expression = expression};
    return row;
}

static struct cfi_row signal_row(void)
{
    struct cfi_row row = row_by(10);
    row.is_signal_frame = true;
    row.state.slot[ARCH_SLOT_FP] = slot(CFI_EXPRESSION, 15);
    row.state.slot[ARCH_SLOT_SP] = slot(CFI_EXPRESSION, 19);
    row.state.slot[ARCH_SLOT_RA] = slot(CFI_EXPRESSION, 23);
    return row;
}

static void assert_rule(const struct cfi_row *row, enum rule_kind kind, int64_t cfa, int64_t fp)
{
    struct rule rule = rule_compile(row);
    assert_int_equal(rule_kind(rule), kind);
    assert_int_equal(rule_cfa(rule), cfa);
    assert_int_equal(rule_fp(rule), fp);
}

static void assert_complex(const struct cfi_row *row)
{
    assert_rule(row, RULE_COMPLEX, 0, 0);
}

static void no_rule_is_a_word_of_zero(void **state)
{
    (void)state;
    assert_int_equal(rule_kind((struct rule){0}), RULE_NONE);
    assert_int_equal(sizeof(struct rule), 8);
    struct cfi_row row = row_of(ARCH_COLUMN_SP, 0);
    assert_int_not_equal(rule_compile(&row).bits, 0);
}

static void sp_and_fp_rules_hold_both_offsets(void **state)
{
    (void)state;
    struct cfi_row row = row_of(ARCH_COLUMN_SP, 8);
    assert_rule(&row, RULE_SP, 8, 0);
    row.state.slot[ARCH_SLOT_FP] = slot(CFI_OFFSET, -16);
    assert_rule(&row, RULE_SP, 8, -16);
    row = row_of(ARCH_COLUMN_FP, 16);
    row.state.slot[ARCH_SLOT_FP] = slot(CFI_OFFSET, -16);
    assert_rule(&row, RULE_FP, 16, -16);
    row = row_of(ARCH_COLUMN_SP, INT32_MIN);
    row.state.slot[ARCH_SLOT_FP] = slot(CFI_OFFSET, -(1 << 23));
    assert_rule(&row, RULE_SP, INT32_MIN, -(1 << 23));
    row = row_of(ARCH_COLUMN_FP, INT32_MAX);
    row.state.slot[ARCH_SLOT_FP] = slot(CFI_OFFSET, (1 << 23) - 1);
    assert_rule(&row, RULE_FP, INT32_MAX, (1 << 23) - 1);
    row.state.slot[ARCH_SLOT_FP] = slot(CFI_OFFSET, 1 << 23);
    assert_complex(&row);
}

static void other_registers_do_not_matter(void **state)
{
    (void)state;
    struct cfi_row row = row_of(ARCH_COLUMN_SP, 64);
    row.state.slot[ARCH_SLOT_RBX] = slot(CFI_OFFSET, -56);
    row.state.slot[ARCH_SLOT_R12] = slot(CFI_UNDEFINED, 0);
    row.state.slot[ARCH_SLOT_R15] = slot(CFI_EXPRESSION, 0);
    assert_rule(&row, RULE_SP, 64, 0);
}

static void plt_rule_holds_the_threshold(void **state)
{
    (void)state;
    uint8_t bytes[] = {
        11,        breg + 7, 8,        breg + 16, 0,         lit + 15,
        DW_OP_and, lit + 11, DW_OP_ge, lit + 3,   DW_OP_shl, DW_OP_plus,
    };
    struct cfi_row row = row_by(0);
    row.origin = bytes;
    row.limit = bytes + sizeof bytes;
    for (uint8_t threshold = 0; threshold < 16; threshold++) {
        bytes[7] = (uint8_t)(lit + threshold);
        assert_rule(&row, RULE_PLT, threshold, 0);
    }
    row.state.slot[ARCH_SLOT_FP] = slot(CFI_OFFSET, -16);
    assert_complex(&row);
    row.state.slot[ARCH_SLOT_FP] = slot(CFI_SAME, 0);
    for (size_t i = 1; i < sizeof(bytes); i++) {
        uint8_t right = bytes[i];
        bytes[i] ^= 0x20;
        assert_complex(&row);
        bytes[i] = right;
    }
    bytes[0]--;
    assert_complex(&row);
}

static void realigned_frames_find_the_cfa_through_fp(void **state)
{
    (void)state;
    struct cfi_row row = row_by(0);
    assert_complex(&row); /* FP was surely saved somewhere */
    row.state.slot[ARCH_SLOT_FP] = slot(CFI_EXPRESSION, 4);
    assert_rule(&row, RULE_FP_DEREF, -16, 0);
    row.state.slot[ARCH_SLOT_FP] = slot(CFI_OFFSET, -24);
    assert_rule(&row, RULE_FP_DEREF, -16, -24);
    row.state.slot[ARCH_SLOT_FP] = slot(CFI_EXPRESSION, 7);
    assert_complex(&row);
    row = row_by(27);
    row.state.slot[ARCH_SLOT_FP] = slot(CFI_EXPRESSION, 4);
    assert_complex(&row);
}

static void signal_rule_is_the_kernels_frame_and_no_other(void **state)
{
    (void)state;
    struct cfi_row row = signal_row();
    assert_rule(&row, RULE_SIGNAL, 0, 0);
    row.state.slot[ARCH_SLOT_SP] = slot(CFI_VAL_OFFSET, 0);
    assert_rule(&row, RULE_SIGNAL, 0, 0);
    row = signal_row();
    row.is_signal_frame = false;
    assert_complex(&row);
    static const unsigned slots[] = {ARCH_SLOT_FP, ARCH_SLOT_SP, ARCH_SLOT_RA};
    for (unsigned i = 0; i < 3; i++) {
        row = signal_row();
        row.state.slot[slots[i]] = slot(CFI_EXPRESSION, 4);
        assert_complex(&row);
        row.state.slot[slots[i]] = slot(CFI_OFFSET, -16);
        assert_complex(&row);
    }
    row = signal_row();
    row.state.cfa.expression = 0;
    assert_complex(&row);
    row = row_of(ARCH_COLUMN_SP, 8);
    row.is_signal_frame = true;
    assert_complex(&row);
}

static void undefined_return_address_is_the_end(void **state)
{
    (void)state;
    struct cfi_row row = row_of(ARCH_COLUMN_SP, 8);
    row.state.slot[ARCH_SLOT_RA] = slot(CFI_UNDEFINED, 0);
    assert_rule(&row, RULE_END, 0, 0);
}

static void all_else_is_complex(void **state)
{
    (void)state;
    struct cfi_row row = row_of(10, 0);
    assert_complex(&row);
    row = row_of(ARCH_COLUMN_SP, 16);
    row.state.slot[ARCH_SLOT_RA] = slot(CFI_OFFSET, -16);
    assert_complex(&row);
    row.state.slot[ARCH_SLOT_RA] = slot(CFI_REGISTER, 5);
    assert_complex(&row);
    row = row_of(ARCH_COLUMN_SP, 16);
    row.state.slot[ARCH_SLOT_SP] = slot(CFI_OFFSET, -16);
    assert_complex(&row);
    static const enum cfi_kind kinds[] = {CFI_UNDEFINED, CFI_VAL_OFFSET, CFI_REGISTER, CFI_EXPRESSION,
                                          CFI_VAL_EXPRESSION};
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        row = row_of(ARCH_COLUMN_SP, 16);
        row.state.slot[ARCH_SLOT_FP] = slot(kinds[i], 4);
        assert_complex(&row);
    }
    row = row_of(ARCH_COLUMN_SP, 16);
    row.state.slot[ARCH_SLOT_FP] = slot(CFI_OFFSET, 0); /* would read as unchanged */
    assert_complex(&row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_rule_is_a_word_of_zero),
        cmocka_unit_test(sp_and_fp_rules_hold_both_offsets),
        cmocka_unit_test(other_registers_do_not_matter),
        cmocka_unit_test(plt_rule_holds_the_threshold),
        cmocka_unit_test(realigned_frames_find_the_cfa_through_fp),
        cmocka_unit_test(signal_rule_is_the_kernels_frame_and_no_other),
        cmocka_unit_test(undefined_return_address_is_the_end),
        cmocka_unit_test(all_else_is_complex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

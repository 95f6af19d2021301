/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Expressions, and steps from frame to frame over rows made by hand.
 */
#include "probe/unwind/cfi.h"

#include "probe/unwind/cfi_opcode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Memory is eight words at STACK. */
#define STACK UINT64_C(0x7ffd00001000)

static const uint64_t words[8] = {0x1111, 0x2222, 0x8877665544332211, 0x4444, 0x5555, 0x6666, 0x7777, 0x8888};

static bool words_read(void *context, uint64_t address, uint64_t *value)
{
    (void)context;
    if (address < STACK || address > STACK + sizeof(words) - 8)
        return false;
    memcpy(value, (const char *)words + (address - STACK), 8);
    return true;
}

static const struct cfi_memory memory = {.read = words_read};

static struct cfi_registers frame(void)
{
    struct cfi_registers registers = {.known = 1u << ARCH_SLOT_SP | 1u << ARCH_SLOT_FP | 1u << ARCH_SLOT_RA};
    registers.value[ARCH_SLOT_SP] = STACK;
    registers.value[ARCH_SLOT_FP] = STACK + 0x10;
    registers.value[ARCH_SLOT_RA] = 0x40100b;
    return registers;
}

static enum cfi_status eval(const uint8_t *bytes, size_t length, uint64_t *result)
{
    struct cfi_registers registers = frame();
    return cfi_eval((struct cfi_expr){bytes, length}, &registers, &memory, NULL, result);
}

#define GIVES(expected, ...)                                                                               \
    do {                                                                                                   \
        uint64_t result_ = 0;                                                                              \
        assert_int_equal(eval((const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}), &result_), \
                         CFI_OK);                                                                          \
        assert_int_equal(result_, (uint64_t)(expected));                                                   \
    } while (0)

#define FAILS(status, ...)                                                                                 \
    do {                                                                                                   \
        uint64_t result_ = 0;                                                                              \
        assert_int_equal(eval((const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}), &result_), \
                         (status));                                                                        \
    } while (0)

enum { lit = DW_OP_lit0, breg = DW_OP_breg0 };

static void constants_are_pushed(void **state)
{
    (void)state;
    GIVES(31, DW_OP_lit31);
    GIVES(0xfe, DW_OP_const1u, 0xfe);
    GIVES(-2, DW_OP_const1s, 0xfe);
    GIVES(0xfffe, DW_OP_const2u, 0xfe, 0xff);
    GIVES(-2, DW_OP_const2s, 0xfe, 0xff);
    GIVES(0xfffffffe, DW_OP_const4u, 0xfe, 0xff, 0xff, 0xff);
    GIVES(-2, DW_OP_const4s, 0xfe, 0xff, 0xff, 0xff);
    GIVES(0x0807060504030201, DW_OP_const8u, 1, 2, 3, 4, 5, 6, 7, 8);
    GIVES(0x0807060504030201, DW_OP_const8s, 1, 2, 3, 4, 5, 6, 7, 8);
    GIVES(0x0807060504030201, DW_OP_addr, 1, 2, 3, 4, 5, 6, 7, 8);
    GIVES(0x7f, DW_OP_constu, 0xff, 0);
    GIVES(-1, DW_OP_consts, 0x7f);
}

static void registers_count_by_column(void **state)
{
    (void)state;
    GIVES(STACK + 8, breg + 7, 8);
    GIVES(STACK + 8, breg + 6, 0x78);
    GIVES(STACK - 8, DW_OP_bregx, 7, 0x78);
    GIVES(STACK, DW_OP_reg0 + 7);
    GIVES(0x40100b, DW_OP_regx, 16);
    FAILS(CFI_UNKNOWN, breg + 3, 0);  /* has a slot, and no value */
    FAILS(CFI_UNKNOWN, breg + 10, 0); /* has no slot */
    FAILS(CFI_UNKNOWN, DW_OP_bregx, 0xff, 0xff, 3, 0);
}

static void arithmetic_wraps_and_compares_signed(void **state)
{
    (void)state;
    GIVES(5, lit + 2, lit + 3, DW_OP_plus);
    GIVES(-1, lit + 2, lit + 3, DW_OP_minus);
    GIVES(6, lit + 2, lit + 3, DW_OP_mul);
    GIVES(-3, DW_OP_const1s, 0xf9, lit + 2, DW_OP_div);
    GIVES(1, lit + 7, lit + 3, DW_OP_mod);
    GIVES(UINT64_C(1) << 63, lit + 1, lit + 31, lit + 31, DW_OP_plus, lit + 1, DW_OP_plus, DW_OP_shl,
          DW_OP_const1s, 0xff, DW_OP_div);
    GIVES(8, lit + 12, lit + 10, DW_OP_and);
    GIVES(14, lit + 12, lit + 10, DW_OP_or);
    GIVES(6, lit + 12, lit + 10, DW_OP_xor);
    GIVES(7, lit + 3, DW_OP_plus_uconst, 4);
    GIVES(-5, lit + 5, DW_OP_neg);
    GIVES(5, lit + 5, DW_OP_neg, DW_OP_abs);
    GIVES(-1, lit + 0, DW_OP_not);
    GIVES(12, lit + 3, lit + 2, DW_OP_shl);
    GIVES(0, lit + 3, DW_OP_const1u, 64, DW_OP_shl);
    GIVES(3, lit + 12, lit + 2, DW_OP_shr);
    GIVES(0, DW_OP_const1s, 0xff, DW_OP_const1u, 64, DW_OP_shr);
    GIVES(-2, DW_OP_const1s, 0xf8, lit + 2, DW_OP_shra);
    GIVES(-1, DW_OP_const1s, 0xf8, DW_OP_const1u, 200, DW_OP_shra);
    GIVES(1, DW_OP_const1s, 0xff, lit + 1, DW_OP_lt);
    GIVES(0, DW_OP_const1s, 0xff, lit + 1, DW_OP_gt);
    GIVES(1, lit + 1, lit + 1, DW_OP_le);
    GIVES(1, lit + 1, lit + 1, DW_OP_ge);
    GIVES(1, lit + 1, lit + 1, DW_OP_eq);
    GIVES(0, lit + 1, lit + 1, DW_OP_ne);
    FAILS(CFI_BAD, lit + 1, lit + 0, DW_OP_div);
    FAILS(CFI_BAD, lit + 1, lit + 0, DW_OP_mod);
}

static void stack_operations_move_values(void **state)
{
    (void)state;
    GIVES(4, lit + 2, DW_OP_dup, DW_OP_plus);
    GIVES(1, lit + 1, lit + 2, DW_OP_drop);
    GIVES(1, lit + 1, lit + 2, DW_OP_over);
    GIVES(1, lit + 1, lit + 2, lit + 3, DW_OP_pick, 2);
    GIVES(1, lit + 1, lit + 2, DW_OP_swap);
    GIVES(2, lit + 1, lit + 2, lit + 3, DW_OP_rot);                         /* top: the second */
    GIVES(1, lit + 1, lit + 2, lit + 3, DW_OP_rot, DW_OP_drop);             /* then the third */
    GIVES(3, lit + 1, lit + 2, lit + 3, DW_OP_rot, DW_OP_drop, DW_OP_drop); /* then what was on top */
    GIVES(1, lit + 1, DW_OP_nop);
    FAILS(CFI_BAD, DW_OP_drop);
    FAILS(CFI_BAD, lit + 1, DW_OP_swap);
    FAILS(CFI_BAD, lit + 1, lit + 2, DW_OP_pick, 2);
    FAILS(CFI_BAD, lit + 1, DW_OP_drop); /* nothing is left to give */
}

static void memory_is_read_only_where_the_caller_lets_it(void **state)
{
    (void)state;
    GIVES(0x2222, breg + 7, 8, DW_OP_deref);
    GIVES(0x8877665544332211, breg + 7, 16, DW_OP_deref_size, 8);
    GIVES(0x44332211, breg + 7, 16, DW_OP_deref_size, 4);
    GIVES(0x2211, breg + 7, 16, DW_OP_deref_size, 2);
    GIVES(0x11, breg + 7, 16, DW_OP_deref_size, 1);
    FAILS(CFI_BAD, breg + 7, 16, DW_OP_deref_size, 0);
    FAILS(CFI_BAD, breg + 7, 16, DW_OP_deref_size, 9);
    FAILS(CFI_UNREADABLE, breg + 7, 0x78, DW_OP_deref);
    FAILS(CFI_UNREADABLE, lit + 0, DW_OP_deref);
    FAILS(CFI_BAD, DW_OP_deref);
}

static void branches_stay_inside_and_end(void **state)
{
    (void)state;
    GIVES(1, lit + 1, DW_OP_skip, 1, 0, lit + 2);
    GIVES(1, lit + 1, lit + 1, DW_OP_bra, 1, 0, lit + 2);
    GIVES(2, lit + 1, lit + 0, DW_OP_bra, 1, 0, lit + 2);
    GIVES(0, lit + 9, lit + 1, DW_OP_minus, DW_OP_dup, DW_OP_bra, 0xfa, 0xff); /* counts down */
    FAILS(CFI_BAD, lit + 1, DW_OP_skip, 1, 0);
    FAILS(CFI_BAD, lit + 1, DW_OP_skip, 0xfb, 0xff);
    FAILS(CFI_BAD, lit + 1, DW_OP_skip, 0);
    FAILS(CFI_UNSUPPORTED, lit + 1, DW_OP_skip, 0xfd, 0xff); /* for ever */
}

static void stack_holds_sixteen_values(void **state)
{
    (void)state;
    uint8_t many[17];
    uint64_t result;
    memset(many, DW_OP_lit31, sizeof(many));
    assert_int_equal(eval(many, 16, &result), CFI_OK);
    assert_int_equal(eval(many, 17, &result), CFI_UNSUPPORTED);
    FAILS(CFI_UNSUPPORTED, lit + 1, lit + 1, 0xe0);
}

/* ---------------------------------------------------------------- whole steps */

static struct cfi_slot slot(enum cfi_kind kind, int32_t value)
{
    return (struct cfi_slot){value * 8 | (int32_t)kind};
}

static struct cfi_row row_of(uint16_t column, int32_t offset)
{
    struct cfi_row row = {.state.cfa = {.kind = CFI_CFA_REGISTER, .column = column, .offset = offset}};
    row.state.slot[ARCH_SLOT_SP] = slot(CFI_VAL_OFFSET, 0);
    row.state.slot[ARCH_SLOT_RA] = slot(CFI_OFFSET, -8);
    return row;
}

static void step_goes_to_the_caller(void **state)
{
    (void)state;
    struct cfi_registers registers = frame();
    struct cfi_row row = row_of(ARCH_COLUMN_FP, 16);
    row.state.slot[ARCH_SLOT_FP] = slot(CFI_OFFSET, -16);
    row.state.slot[ARCH_SLOT_RBX] = slot(CFI_OFFSET, -24);
    row.state.slot[ARCH_SLOT_R12] = slot(CFI_VAL_OFFSET, 4);
    row.state.slot[ARCH_SLOT_R13] = slot(CFI_REGISTER, ARCH_COLUMN_FP);
    row.state.slot[ARCH_SLOT_R14] = slot(CFI_REGISTER, 11);
    assert_int_equal(cfi_step(&row, &memory, &registers), CFI_OK);
    assert_int_equal(registers.value[ARCH_SLOT_SP], STACK + 0x20);
    assert_int_equal(registers.value[ARCH_SLOT_RA], 0x4444);
    assert_int_equal(registers.value[ARCH_SLOT_FP], words[2]);
    assert_int_equal(registers.value[ARCH_SLOT_RBX], 0x2222);
    assert_int_equal(registers.value[ARCH_SLOT_R12], STACK + 0x24);
    assert_int_equal(registers.value[ARCH_SLOT_R13], STACK + 0x10);
    unsigned lost = 1u << ARCH_SLOT_R14 | 1u << ARCH_SLOT_R15;
    assert_int_equal(registers.known, ((1u << ARCH_SLOT_COUNT) - 1) & ~lost);
}

static void step_runs_expressions_with_the_cfa_below(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {
        2, breg + 6,          0x10, /* 0: the CFA */
        2, DW_OP_plus_uconst, 0x08, /* 3: CFA + 8 */
    };
    struct cfi_registers registers = frame();
    struct cfi_row row = row_of(0, 0);
    row.origin = bytes;
    row.limit = bytes + sizeof bytes;
    row.state.cfa = (struct cfi_cfa){.kind = CFI_CFA_EXPRESSION, .expression = 0};
    row.state.slot[ARCH_SLOT_FP] = slot(CFI_EXPRESSION, 3);
    row.state.slot[ARCH_SLOT_RBX] = slot(CFI_VAL_EXPRESSION, 3);
    assert_int_equal(cfi_step(&row, &memory, &registers), CFI_OK);
    assert_int_equal(registers.value[ARCH_SLOT_SP], STACK + 0x20);
    assert_int_equal(registers.value[ARCH_SLOT_FP], 0x6666);
    assert_int_equal(registers.value[ARCH_SLOT_RBX], STACK + 0x28);
}

static void step_without_a_caller_leaves_the_return_address_unknown(void **state)
{
    (void)state;
    struct cfi_registers registers = frame();
    struct cfi_row row = row_of(ARCH_COLUMN_SP, 8);
    row.state.slot[ARCH_SLOT_RA] = slot(CFI_UNDEFINED, 0);
    assert_int_equal(cfi_step(&row, &memory, &registers), CFI_OK);
    assert_int_equal(registers.known >> ARCH_SLOT_RA & 1, 0);
}

static void step_that_fails_changes_nothing(void **state)
{
    (void)state;
    struct cfi_registers registers = frame();
    struct cfi_registers before = registers;
    struct cfi_row far = row_of(ARCH_COLUMN_SP, 0x1000);
    struct cfi_row drap = row_of(10, 0);
    assert_int_equal(cfi_step(&far, &memory, &registers), CFI_UNREADABLE);
    assert_int_equal(cfi_step(&drap, &memory, &registers), CFI_UNKNOWN);
    assert_memory_equal(&registers, &before, sizeof(registers));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_pushed),
        cmocka_unit_test(registers_count_by_column),
        cmocka_unit_test(arithmetic_wraps_and_compares_signed),
        cmocka_unit_test(stack_operations_move_values),
        cmocka_unit_test(memory_is_read_only_where_the_caller_lets_it),
        cmocka_unit_test(branches_stay_inside_and_end),
        cmocka_unit_test(stack_holds_sixteen_values),
        cmocka_unit_test(step_goes_to_the_caller),
        cmocka_unit_test(step_runs_expressions_with_the_cfa_below),
        cmocka_unit_test(step_without_a_caller_leaves_the_return_address_unknown),
        cmocka_unit_test(step_that_fails_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cfi_eval: a machine for DWARF expressions, with a stack of 64-bit values.
 *
 * Errors are sticky, as with the cursor: after the first one pops give zero, pushes
 * do nothing, and the loop ends. What the standard leaves open is settled so that
 * nothing here is undefined: shifts by 64 or more give what shifting bit by bit
 * would, comparisons and division are signed, division by zero is CFI_BAD.
 *
 * A register operation (DW_OP_reg), which in debug information means a place, gives
 * the value of the register, since call frame information has no use for places.
 */
#include "base/cursor.h"
#include "probe/unwind/cfi.h"
#include "probe/unwind/cfi_opcode.h"

enum {
    EVAL_DEPTH = 16,
    EVAL_STEPS = 256,
};

struct eval {
    const struct cfi_registers *registers;
    const struct cfi_memory *memory;
    struct cursor in;
    enum cfi_status status;
    unsigned depth;
    uint64_t stack[EVAL_DEPTH];
};

static void eval_fail(struct eval *e, enum cfi_status status)
{
    if (e->status == CFI_OK)
        e->status = status;
}

static void eval_push(struct eval *e, uint64_t value)
{
    if (e->depth == EVAL_DEPTH)
        eval_fail(e, CFI_UNSUPPORTED);
    else
        e->stack[e->depth++] = value;
}

static uint64_t eval_pop(struct eval *e)
{
    if (e->depth == 0) {
        eval_fail(e, CFI_BAD);
        return 0;
    }
    return e->stack[--e->depth];
}

static void eval_pick(struct eval *e, unsigned from_top)
{
    if (from_top >= e->depth)
        eval_fail(e, CFI_BAD);
    else
        eval_push(e, e->stack[e->depth - 1 - from_top]);
}

static void eval_push_register(struct eval *e, uint64_t column, int64_t offset)
{
    unsigned slot = arch_slot(column);
    if (slot == ARCH_SLOT_NONE || (e->registers->known >> slot & 1) == 0)
        eval_fail(e, CFI_UNKNOWN);
    else
        eval_push(e, e->registers->value[slot] + (uint64_t)offset);
}

static void eval_deref(struct eval *e, unsigned size)
{
    uint64_t address = eval_pop(e);
    uint64_t value = 0;
    if (size == 0 || size > 8)
        eval_fail(e, CFI_BAD);
    else if (e->status == CFI_OK && !e->memory->read(e->memory->context, address, &value))
        eval_fail(e, CFI_UNREADABLE);
    else
        eval_push(e, value & ~UINT64_C(0) >> (64 - 8 * size));
}

static void eval_branch(struct eval *e, bool is_taken)
{
    int16_t distance = (int16_t)cursor_u16(&e->in);
    if (!is_taken)
        return;
    int64_t target = (int64_t)cursor_offset(&e->in) + distance;
    if (target < 0 || target > e->in.end - e->in.begin)
        eval_fail(e, CFI_BAD);
    else
        e->in.at = e->in.begin + target;
}

/* Operations that push one value of their own; false when opcode is none. */
static bool eval_constant(struct eval *e, uint8_t opcode)
{
    struct cursor *in = &e->in;
    switch (opcode) {
    case DW_OP_const1u:
        eval_push(e, cursor_u8(in));
        return true;
    case DW_OP_const1s:
        eval_push(e, (uint64_t)(int8_t)cursor_u8(in));
        return true;
    case DW_OP_const2u:
        eval_push(e, cursor_u16(in));
        return true;
    case DW_OP_const2s:
        eval_push(e, (uint64_t)(int16_t)cursor_u16(in));
        return true;
    case DW_OP_const4u:
        eval_push(e, cursor_u32(in));
        return true;
    case DW_OP_const4s:
        eval_push(e, (uint64_t)(int32_t)cursor_u32(in));
        return true;
    case DW_OP_addr:
    case DW_OP_const8u:
    case DW_OP_const8s:
        eval_push(e, cursor_u64(in));
        return true;
    case DW_OP_constu:
        eval_push(e, cursor_uleb(in));
        return true;
    case DW_OP_consts:
        eval_push(e, (uint64_t)cursor_sleb(in));
        return true;
    default:
        return false;
    }
}

/* Operations on the top of the stack alone; false when opcode is none. */
static bool eval_unary(struct eval *e, uint8_t opcode)
{
    uint64_t a;
    switch (opcode) {
    case DW_OP_nop:
        return true;
    case DW_OP_dup:
        eval_pick(e, 0);
        return true;
    case DW_OP_over:
        eval_pick(e, 1);
        return true;
    case DW_OP_pick:
        eval_pick(e, cursor_u8(&e->in));
        return true;
    case DW_OP_drop:
        (void)eval_pop(e);
        return true;
    case DW_OP_deref:
        eval_deref(e, 8);
        return true;
    case DW_OP_deref_size:
        eval_deref(e, cursor_u8(&e->in));
        return true;
    case DW_OP_abs:
        a = eval_pop(e);
        eval_push(e, (int64_t)a < 0 ? 0 - a : a);
        return true;
    case DW_OP_neg:
        eval_push(e, 0 - eval_pop(e));
        return true;
    case DW_OP_not:
        eval_push(e, ~eval_pop(e));
        return true;
    case DW_OP_plus_uconst:
        a = cursor_uleb(&e->in);
        eval_push(e, a + eval_pop(e));
        return true;
    default:
        return false;
    }
}

static uint64_t eval_divide(struct eval *e, int64_t a, int64_t b)
{
    if (b == 0)
        eval_fail(e, CFI_BAD);
    if (b == 0 || b == -1) /* INT64_MIN / -1 has no value */
        return 0 - (uint64_t)a;
    return (uint64_t)(a / b);
}

static bool eval_compare(uint8_t opcode, int64_t a, int64_t b)
{
    switch (opcode) {
    case DW_OP_eq:
        return a == b;
    case DW_OP_ge:
        return a >= b;
    case DW_OP_gt:
        return a > b;
    case DW_OP_le:
        return a <= b;
    case DW_OP_lt:
        return a < b;
    default: /* DW_OP_ne */
        return a != b;
    }
}

/* Operations that make one value of two, a being the one below b. */
static uint64_t eval_binary(struct eval *e, uint8_t opcode, uint64_t a, uint64_t b)
{
    switch (opcode) {
    case DW_OP_and:
        return a & b;
    case DW_OP_or:
        return a | b;
    case DW_OP_xor:
        return a ^ b;
    case DW_OP_plus:
        return a + b;
    case DW_OP_minus:
        return a - b;
    case DW_OP_mul:
        return a * b;
    case DW_OP_div:
        return eval_divide(e, (int64_t)a, (int64_t)b);
    case DW_OP_mod:
        if (b == 0)
            eval_fail(e, CFI_BAD);
        return b == 0 ? 0 : a % b;
    case DW_OP_shl:
        return b < 64 ? a << b : 0;
    case DW_OP_shr:
        return b < 64 ? a >> b : 0;
    case DW_OP_shra:
        return (uint64_t)((int64_t)a >> (b < 64 ? b : 63));
    case DW_OP_eq:
    case DW_OP_ge:
    case DW_OP_gt:
    case DW_OP_le:
    case DW_OP_lt:
    case DW_OP_ne:
        return eval_compare(opcode, (int64_t)a, (int64_t)b);
    default:
        eval_fail(e, CFI_UNSUPPORTED);
        return 0;
    }
}

/* The top three, the topmost going below the other two. */
static void eval_rotate(struct eval *e)
{
    uint64_t first = eval_pop(e);
    uint64_t second = eval_pop(e);
    uint64_t third = eval_pop(e);
    eval_push(e, first);
    eval_push(e, third);
    eval_push(e, second);
}

static void eval_step(struct eval *e)
{
    uint8_t opcode = cursor_u8(&e->in);
    uint64_t column = (uint64_t)opcode - DW_OP_breg0;
    if (opcode >= DW_OP_lit0 && opcode <= DW_OP_lit31) {
        eval_push(e, (uint64_t)opcode - DW_OP_lit0);
    } else if (opcode >= DW_OP_reg0 && opcode <= DW_OP_reg31) {
        eval_push_register(e, (uint64_t)opcode - DW_OP_reg0, 0);
    } else if (opcode >= DW_OP_breg0 && opcode <= DW_OP_breg31) {
        eval_push_register(e, column, cursor_sleb(&e->in));
    } else if (opcode == DW_OP_regx) {
        eval_push_register(e, cursor_uleb(&e->in), 0);
    } else if (opcode == DW_OP_bregx) {
        column = cursor_uleb(&e->in);
        eval_push_register(e, column, cursor_sleb(&e->in));
    } else if (opcode == DW_OP_skip) {
        eval_branch(e, true);
    } else if (opcode == DW_OP_bra) {
        eval_branch(e, eval_pop(e) != 0);
    } else if (opcode == DW_OP_rot) {
        eval_rotate(e);
    } else if (opcode == DW_OP_swap) {
        uint64_t b = eval_pop(e);
        uint64_t a = eval_pop(e);
        eval_push(e, b);
        eval_push(e, a);
    } else if (!eval_constant(e, opcode) && !eval_unary(e, opcode)) {
        uint64_t b = eval_pop(e);
        uint64_t a = eval_pop(e);
        eval_push(e, eval_binary(e, opcode, a, b));
    }
}

enum cfi_status cfi_eval(struct cfi_expr expr, const struct cfi_registers *registers,
                         const struct cfi_memory *memory, const uint64_t *first, uint64_t *result)
{
    struct eval e;
    e.registers = registers;
    e.memory = memory;
    e.status = CFI_OK;
    e.depth = 0;
    cursor_init(&e.in, expr.bytes, expr.length);
    if (first != NULL)
        eval_push(&e, *first);
    for (unsigned steps = 0; cursor_left(&e.in) > 0; steps++) {
        if (steps == EVAL_STEPS)
            return CFI_UNSUPPORTED;
        eval_step(&e);
        if (cursor_is_bad(&e.in))
            return CFI_BAD;
        if (e.status != CFI_OK)
            return e.status;
    }
    *result = eval_pop(&e);
    return e.status;
}

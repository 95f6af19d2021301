/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cfi_meaning: see the header. One evaluator, ops_run, serves both sides: libdw
 * hands out its operations decoded, ours are decoded here, apart from the code under
 * test. It knows every register, also those that cfi_eval cannot know.
 */
#include "cfi_meaning.h"

#include "base/cursor.h"

#include <dwarf.h>

enum { OPS_ROOM = 64 };

const struct meaning_column meaning_columns[ARCH_SLOT_COUNT] = {
    [ARCH_SLOT_RBX] = {3, "rbx"},  [ARCH_SLOT_FP] = {6, "rbp"},   [ARCH_SLOT_SP] = {7, "rsp"},
    [ARCH_SLOT_R12] = {12, "r12"}, [ARCH_SLOT_R13] = {13, "r13"}, [ARCH_SLOT_R14] = {14, "r14"},
    [ARCH_SLOT_R15] = {15, "r15"}, [ARCH_SLOT_RA] = {16, "ra"},
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ (x >> 32);
}

static uint64_t register_at(uint64_t pc, uint64_t column)
{
    return column == ARCH_COLUMN_RA ? pc : mix(column + 1000);
}

static uint64_t word_at(uint64_t address)
{
    return mix(address);
}

static bool word_read(void *context, uint64_t address, uint64_t *value)
{
    (void)context;
    *value = word_at(address);
    return true;
}

const struct cfi_memory meaning_memory = {.read = word_read};

struct cfi_registers meaning_registers(uint64_t pc)
{
    struct cfi_registers registers = {.known = (1u << ARCH_SLOT_COUNT) - 1};
    for (unsigned i = 0; i < ARCH_SLOT_COUNT; i++)
        registers.value[i] = register_at(pc, (uint64_t)meaning_columns[i].number);
    return registers;
}

/* Whether cfi_step can know this register; by the list above, not by arch_slot. */
static bool is_followed(uint64_t column)
{
    for (unsigned i = 0; i < ARCH_SLOT_COUNT; i++)
        if ((uint64_t)meaning_columns[i].number == column)
            return true;
    return false;
}

bool value_equals(struct value a, struct value b)
{
    return a.is_known == b.is_known && a.bits == b.bits;
}

/* ------------------------------------------------------------- the operations */

static bool binary(uint8_t atom, uint64_t a, uint64_t b, uint64_t *result)
{
    int64_t sa = (int64_t)a;
    int64_t sb = (int64_t)b;
    const struct {
        uint8_t atom;
        uint64_t result;
    } table[] = {
        {DW_OP_plus, a + b},        {DW_OP_minus, a - b},       {DW_OP_and, a & b},
        {DW_OP_or, a | b},          {DW_OP_xor, a ^ b},         {DW_OP_mul, a * b},
        {DW_OP_shl, a << (b & 63)}, {DW_OP_shr, a >> (b & 63)}, {DW_OP_ge, sa >= sb},
        {DW_OP_gt, sa > sb},        {DW_OP_le, sa <= sb},       {DW_OP_lt, sa < sb},
        {DW_OP_eq, sa == sb},       {DW_OP_ne, sa != sb},       {DW_OP_shra, (uint64_t)(sa >> (b & 63))},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].atom == atom) {
            *result = table[i].result;
            return true;
        }
    }
    return false;
}

struct result {
    uint64_t bits;
    bool is_place; /* bits are where the value is */
    bool is_clobbered;
};

/* Runs straight-line operations. False for one that no compiler was seen to use,
 * which then shows as a difference. */
static bool ops_run(const Dwarf_Op *ops, size_t count, uint64_t pc, uint64_t cfa, struct result *r)
{
    uint64_t stack[OPS_ROOM + 2] = {0};
    size_t depth = 2; /* with two zeros below, instead of checks for an empty stack */
    *r = (struct result){.is_place = true};
    for (size_t i = 0; i < count && depth >= 2 && depth < OPS_ROOM; i++) {
        uint8_t atom = ops[i].atom;
        uint64_t n = ops[i].number;
        bool is_breg = atom >= DW_OP_breg0 && atom <= DW_OP_breg31;
        if (is_breg || atom == DW_OP_bregx || atom == DW_OP_regx) {
            uint64_t column = is_breg ? (uint64_t)(atom - DW_OP_breg0) : n;
            uint64_t offset = is_breg ? n : atom == DW_OP_bregx ? ops[i].number2 : 0;
            stack[depth++] = register_at(pc, column) + offset;
            r->is_clobbered |= !is_followed(column);
            r->is_place &= atom != DW_OP_regx;
        } else if (atom == DW_OP_call_frame_cfa) {
            stack[depth++] = cfa;
        } else if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
            stack[depth++] = (uint64_t)(atom - DW_OP_lit0);
        } else if (atom >= DW_OP_const1u && atom <= DW_OP_consts) {
            stack[depth++] = n;
        } else if (atom == DW_OP_plus_uconst) {
            stack[depth - 1] += n;
        } else if (atom == DW_OP_deref) {
            stack[depth - 1] = word_at(stack[depth - 1]);
        } else if (atom == DW_OP_drop) {
            depth--;
        } else if (atom == DW_OP_stack_value) {
            r->is_place = false;
        } else {
            if (!binary(atom, stack[depth - 2], stack[depth - 1], &stack[depth - 2]))
                return false;
            depth--;
        }
    }
    r->bits = stack[depth - 1];
    return depth > 2 && depth < OPS_ROOM;
}

/* The operand of an operation, which is one number at most for those we run. */
static uint64_t operand_decode(struct cursor *in, uint8_t atom)
{
    if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
        return (uint64_t)cursor_sleb(in);
    switch (atom) {
    case DW_OP_const1u:
        return cursor_u8(in);
    case DW_OP_const1s:
        return (uint64_t)(int8_t)cursor_u8(in);
    case DW_OP_const2u:
        return cursor_u16(in);
    case DW_OP_const2s:
        return (uint64_t)(int16_t)cursor_u16(in);
    case DW_OP_const4u:
        return cursor_u32(in);
    case DW_OP_const4s:
        return (uint64_t)(int32_t)cursor_u32(in);
    case DW_OP_const8u:
    case DW_OP_const8s:
        return cursor_u64(in);
    case DW_OP_plus_uconst:
    case DW_OP_constu:
        return cursor_uleb(in);
    case DW_OP_consts:
        return (uint64_t)cursor_sleb(in);
    default:
        return 0;
    }
}

/* Our expressions as libdw would give them; 0 when one is too long. */
static size_t ops_decode(struct cfi_expr expr, Dwarf_Op *ops)
{
    struct cursor in;
    size_t count = 0;
    cursor_init(&in, expr.bytes, expr.length);
    while (cursor_left(&in) > 0 && count < OPS_ROOM - 1) {
        uint8_t atom = cursor_u8(&in);
        ops[count++] = (Dwarf_Op){.atom = atom, .number = operand_decode(&in, atom)};
    }
    return cursor_left(&in) > 0 || cursor_is_bad(&in) ? 0 : count;
}

/* ---------------------------------------------------------------- the meanings */

static bool row_register(const struct cfi_row *row, unsigned i, uint64_t pc, uint64_t cfa, struct value *v)
{
    struct cfi_slot slot = row->state.slot[i];
    enum cfi_kind kind = cfi_slot_kind(slot);
    int32_t value = cfi_slot_value(slot);
    uint64_t n = (uint64_t)(int64_t)value;
    Dwarf_Op ops[OPS_ROOM] = {{.atom = DW_OP_call_frame_cfa}};
    struct result r;
    *v = (struct value){.is_known = kind != CFI_UNDEFINED};
    switch (kind) {
    case CFI_SAME:
        v->bits = register_at(pc, (uint64_t)meaning_columns[i].number);
        return true;
    case CFI_UNDEFINED:
        return true;
    case CFI_OFFSET:
        v->bits = word_at(cfa + n);
        return true;
    case CFI_VAL_OFFSET:
        v->bits = cfa + n;
        return true;
    case CFI_REGISTER:
        v->bits = register_at(pc, n);
        v->is_clobbered = !is_followed(n);
        return true;
    case CFI_EXPRESSION:
    case CFI_VAL_EXPRESSION:
        if (!ops_run(ops, 1 + ops_decode(cfi_row_expr(row, value), ops + 1), pc, cfa, &r))
            return false;
        v->bits = kind == CFI_EXPRESSION ? word_at(r.bits) : r.bits;
        v->is_clobbered = r.is_clobbered;
        return true;
    default:
        return false;
    }
}

bool meaning_of_row(const struct cfi_row *row, uint64_t pc, struct meaning *m)
{
    struct cfi_cfa rule = row->state.cfa;
    Dwarf_Op ops[OPS_ROOM];
    struct result r = {
        .bits = register_at(pc, rule.column) + (uint64_t)(int64_t)rule.offset,
        .is_clobbered = !is_followed(rule.column),
    };
    if (rule.kind == CFI_CFA_EXPRESSION &&
        !ops_run(ops, ops_decode(cfi_row_expr(row, rule.expression), ops), pc, 0, &r))
        return false;
    *m = (struct meaning){.cfa = r.bits, .has_cfa = true, .is_clobbered = r.is_clobbered};
    for (unsigned i = 0; i < ARCH_SLOT_COUNT; i++)
        if (!row_register(row, i, pc, m->cfa, &m->slot[i]))
            return false;
    return rule.kind != CFI_CFA_NONE;
}

static bool libdw_register(Dwarf_Frame *frame, int column, uint64_t pc, uint64_t cfa, struct value *v)
{
    Dwarf_Op room[3];
    Dwarf_Op *ops;
    size_t count;
    struct result r;
    if (dwarf_frame_register(frame, column, room, &ops, &count) != 0)
        return false;
    *v = (struct value){.is_known = ops == NULL || count > 0};
    if (ops == NULL)
        v->bits = register_at(pc, (uint64_t)column);
    if (count == 0)
        return true;
    if (!ops_run(ops, count, pc, cfa, &r))
        return false;
    v->bits = r.is_place ? word_at(r.bits) : r.bits;
    v->is_clobbered = r.is_clobbered;
    return true;
}

bool meaning_of_libdw(Dwarf_Frame *frame, uint64_t pc, uint64_t cfa, struct meaning *m)
{
    Dwarf_Op *ops;
    size_t count;
    struct result r = {.bits = cfa};
    bool has_cfa = dwarf_frame_cfa(frame, &ops, &count) == 0;
    if (has_cfa && !ops_run(ops, count, pc, 0, &r))
        return false;
    *m = (struct meaning){.cfa = r.bits, .has_cfa = has_cfa, .is_clobbered = r.is_clobbered};
    for (unsigned i = 0; i < ARCH_SLOT_COUNT; i++)
        if (!libdw_register(frame, meaning_columns[i].number, pc, m->cfa, &m->slot[i]))
            return false;
    return true;
}

bool meaning_of_rule(struct rule rule, uint64_t pc, struct meaning *m)
{
    uint64_t sp = register_at(pc, ARCH_COLUMN_SP);
    uint64_t fp = register_at(pc, ARCH_COLUMN_FP);
    uint64_t offset = (uint64_t)rule_cfa(rule);
    uint64_t fp_offset = (uint64_t)rule_fp(rule);
    uint64_t ra_at = 0;
    uint64_t fp_at = 0; /* 0: unchanged */
    switch (rule_kind(rule)) {
    case RULE_SP:
        m->cfa = sp + offset;
        break;
    case RULE_FP:
        m->cfa = fp + offset;
        break;
    case RULE_PLT:
        m->cfa = sp + 8 + (pc % 16 >= offset ? 8 : 0);
        break;
    case RULE_FP_DEREF:
        m->cfa = word_at(fp + offset);
        fp_at = fp;
        break;
    case RULE_SIGNAL:
        m->cfa = word_at(sp + 160);
        ra_at = sp + 168;
        fp_at = sp + 120;
        break;
    default:
        return false;
    }
    if (fp_offset != 0)
        fp_at = m->cfa + fp_offset;
    if (ra_at == 0)
        ra_at = m->cfa - 8;
    m->has_cfa = true;
    m->slot[ARCH_SLOT_SP] = (struct value){.is_known = true, .bits = m->cfa};
    m->slot[ARCH_SLOT_FP] = (struct value){.is_known = true, .bits = fp_at != 0 ? word_at(fp_at) : fp};
    m->slot[ARCH_SLOT_RA] = (struct value){.is_known = true, .bits = word_at(ra_at)};
    return true;
}

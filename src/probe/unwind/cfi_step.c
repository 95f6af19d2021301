/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cfi_step: from a frame to its caller by a whole row, with nothing taken for
 * granted. The walker comes here for the few rows that rule.h cannot hold.
 */
#include "probe/unwind/cfi.h"

static bool registers_get(const struct cfi_registers *registers, uint64_t column, uint64_t *value)
{
    unsigned slot = arch_slot(column);
    if (slot == ARCH_SLOT_NONE || (registers->known >> slot & 1) == 0)
        return false;
    *value = registers->value[slot];
    return true;
}

static enum cfi_status step_cfa(const struct cfi_row *row, const struct cfi_memory *memory,
                                const struct cfi_registers *registers, uint64_t *cfa)
{
    struct cfi_cfa rule = row->state.cfa;
    if (rule.kind == CFI_CFA_EXPRESSION)
        return cfi_eval(cfi_row_expr(row, rule.expression), registers, memory, NULL, cfa);
    uint64_t base;
    if (!registers_get(registers, rule.column, &base))
        return CFI_UNKNOWN;
    *cfa = base + (uint64_t)(int64_t)rule.offset;
    return CFI_OK;
}

static enum cfi_status step_load(const struct cfi_memory *memory, uint64_t address, uint64_t *value)
{
    return memory->read(memory->context, address, value) ? CFI_OK : CFI_UNREADABLE;
}

/* The caller's value of one slot; CFI_ABSENT when it is undefined. */
static enum cfi_status step_slot(const struct cfi_row *row, const struct cfi_memory *memory,
                                 const struct cfi_registers *registers, unsigned index, uint64_t cfa,
                                 uint64_t *value)
{
    struct cfi_slot slot = row->state.slot[index];
    int32_t n = cfi_slot_value(slot);
    uint64_t address;
    enum cfi_status status;
    switch (cfi_slot_kind(slot)) {
    case CFI_SAME:
        *value = registers->value[index];
        return (registers->known >> index & 1) != 0 ? CFI_OK : CFI_UNKNOWN;
    case CFI_OFFSET:
        return step_load(memory, cfa + (uint64_t)(int64_t)n, value);
    case CFI_VAL_OFFSET:
        *value = cfa + (uint64_t)(int64_t)n;
        return CFI_OK;
    case CFI_REGISTER:
        return registers_get(registers, (uint64_t)(int64_t)n, value) ? CFI_OK : CFI_UNKNOWN;
    case CFI_EXPRESSION:
        status = cfi_eval(cfi_row_expr(row, n), registers, memory, &cfa, &address);
        return status == CFI_OK ? step_load(memory, address, value) : status;
    case CFI_VAL_EXPRESSION:
        return cfi_eval(cfi_row_expr(row, n), registers, memory, &cfa, value);
    default:
        return CFI_ABSENT;
    }
}

enum cfi_status cfi_step(const struct cfi_row *row, const struct cfi_memory *memory,
                         struct cfi_registers *registers)
{
    struct cfi_registers caller;
    uint64_t cfa;
    caller.known = 0;
    enum cfi_status status = step_cfa(row, memory, registers, &cfa);
    if (status != CFI_OK)
        return status;
    for (unsigned index = 0; index < ARCH_SLOT_COUNT; index++) {
        status = step_slot(row, memory, registers, index, cfa, &caller.value[index]);
        if (status == CFI_OK)
            caller.known |= 1u << index;
        else if (index == ARCH_SLOT_RA && status != CFI_ABSENT)
            return status;
    }
    *registers = caller;
    return CFI_OK;
}

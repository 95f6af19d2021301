/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cfi_fuzz: arbitrary bytes as the .eh_frame_hdr and .eh_frame of a module.
 *
 *     input:  u8 flags, u8 hdr offset / 4, i32 distance of the first pc from BASE,
 *             then the module's bytes, which the program sees at BASE
 *     flags:  1 there is no .eh_frame_hdr, and the offset is that of .eh_frame
 *             2 memory cannot be read
 *
 * From the first pc we go from row to row, and compile, step and evaluate each. What
 * must hold besides "no fault" is what cfi.h promises; a broken promise traps.
 */
#include "probe/unwind/cfi.h"
#include "probe/unwind/rule.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BASE UINT64_C(0x10000000)

enum { HEAD = 6, ROWS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static bool memory_read(void *context, uint64_t address, uint64_t *value)
{
    const uint8_t *flags = context;
    *value = address * UINT64_C(0x9e3779b97f4a7c15);
    return (*flags & 2) == 0;
}

static void expr_check(const struct cfi_section *section, const struct cfi_row *row, int32_t value)
{
    struct cfi_expr expr = cfi_row_expr(row, value);
    must(expr.bytes > section->lo && expr.bytes <= section->hi);
    must(expr.length <= (size_t)(section->hi - expr.bytes));
}

static void row_check(const struct cfi_section *section, const struct cfi_row *row, uint64_t pc)
{
    must(row->start <= pc && pc < row->end);
    must(row->fde_start <= row->start && row->end <= row->fde_end);
    must(row->state.cfa.kind != CFI_CFA_NONE);
    if (row->state.cfa.kind == CFI_CFA_EXPRESSION)
        expr_check(section, row, row->state.cfa.expression);
    for (unsigned i = 0; i < ARCH_SLOT_COUNT; i++) {
        enum cfi_kind kind = cfi_slot_kind(row->state.slot[i]);
        must(kind <= CFI_VAL_EXPRESSION);
        if (kind == CFI_EXPRESSION || kind == CFI_VAL_EXPRESSION)
            expr_check(section, row, cfi_slot_value(row->state.slot[i]));
    }
}

static void row_use(const struct cfi_row *row, uint8_t *flags, uint64_t pc)
{
    struct cfi_memory memory = {.read = memory_read, .context = flags};
    struct cfi_registers registers = {.known = (1u << ARCH_SLOT_COUNT) - 1};
    for (unsigned i = 0; i < ARCH_SLOT_COUNT; i++)
        registers.value[i] = pc + i * 4096;
    must(rule_kind(rule_compile(row)) > RULE_NONE && rule_kind(rule_compile(row)) < RULE_KIND_COUNT);
    (void)cfi_step(row, &memory, &registers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    uint8_t flags = data[0];
    size_t offset = (size_t)data[1] * 4;
    int32_t distance;
    memcpy(&distance, data + 2, sizeof(distance));
    const uint8_t *bytes = data + HEAD;
    size -= HEAD;
    if (offset > size)
        return 0;
    struct cfi_section section = {
        .hdr = (flags & 1) == 0 ? bytes + offset : NULL,
        .hdr_size = size,
        .eh_frame = bytes + offset,
        .lo = bytes,
        .hi = bytes + size,
        .bias = (intptr_t)(BASE - (uint64_t)(uintptr_t)bytes),
    };
    uint64_t pc = BASE + (uint64_t)(int64_t)distance;
    for (unsigned i = 0; i < ROWS; i++) {
        struct cfi_row row;
        if (cfi_find_row(&section, pc, &row) != CFI_OK)
            break;
        row_check(&section, &row, pc);
        row_use(&row, &flags, pc);
        pc = row.end;
    }
    return 0;
}

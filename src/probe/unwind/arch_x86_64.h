/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * arch (x86-64): the numbers of this CPU that unwinding needs.
 *
 * DWARF numbers registers by column: 0 rax, 1 rdx, 2 rcx, 3 rbx, 4 rsi, 5 rdi,
 * 6 rbp, 7 rsp, 8-15 r8-r15, 16 the return address (rip). Of these only what a
 * callee must preserve can be followed from frame to frame; each such column has
 * a slot, and all others have none.
 */
#ifndef HW_PROBE_UNWIND_ARCH_X86_64_H
#define HW_PROBE_UNWIND_ARCH_X86_64_H

#include <stdint.h>

enum arch_column {
    ARCH_COLUMN_FP = 6,
    ARCH_COLUMN_SP = 7,
    ARCH_COLUMN_RA = 16,
    ARCH_COLUMN_COUNT = 17,
};

enum arch_slot {
    ARCH_SLOT_RBX,
    ARCH_SLOT_FP,
    ARCH_SLOT_SP,
    ARCH_SLOT_R12,
    ARCH_SLOT_R13,
    ARCH_SLOT_R14,
    ARCH_SLOT_R15,
    ARCH_SLOT_RA,
    ARCH_SLOT_COUNT,
    ARCH_SLOT_NONE = 15,
};

/* The call instruction leaves the return address here, relative to the CFA. */
enum { ARCH_RA_OFFSET = -8 };

/* So many bytes below SP are a function's own: nobody writes there, no signal either. */
enum { ARCH_RED_ZONE = 128 };

/* The kernel's signal frame: with SP at the ucontext, as it is when the handler
 * has returned, the interrupted registers lie at SP plus these. */
enum arch_signal {
    ARCH_SIGNAL_FP = 120,
    ARCH_SIGNAL_SP = 160,
    ARCH_SIGNAL_RA = 168,
};

/* A stub of a .plt has pushed one word once pc is past its push; see RULE_PLT. */
enum arch_plt {
    ARCH_PLT_STUB = 16,
    ARCH_PLT_DEPTH = 8,
    ARCH_PLT_PUSH = 8,
    ARCH_PLT_PUSH_SHIFT = 3,
};

/* The slot of a DWARF column, or ARCH_SLOT_NONE. The columns that have one are
 * packed as nibbles, so that a lookup is a shift and not a table in memory. */
static inline unsigned arch_slot(uint64_t column)
{
    const uint64_t columns_0_to_15 = UINT64_C(0x6543ffff21ff0fff);
    if (column == ARCH_COLUMN_RA)
        return ARCH_SLOT_RA;
    if (column > ARCH_COLUMN_RA)
        return ARCH_SLOT_NONE;
    return (unsigned)(columns_0_to_15 >> (column * 4)) & 15;
}

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cfi: from a pc to the rule of its frame, by DWARF call frame information.
 *
 *     .eh_frame_hdr --binary search--> FDE --names--> CIE
 *                                       |              |
 *                       run up to pc <--+---- first ---+
 *                             |
 *                          cfi_row: how to find the CFA and, from it, the
 *                                   registers of the caller
 *
 * All of it runs inside the profiled program, in any thread and in any signal
 * handler: no allocation, no libc, no globals, no locks, no recursion, all loops
 * bounded by the bytes they read, and less than 600 bytes of stack below each
 * function. Bytes that make no sense end in a status, never in a fault, as long
 * as the section's [lo, hi) can be read.
 */
#ifndef HW_PROBE_UNWIND_CFI_H
#define HW_PROBE_UNWIND_CFI_H

#include "probe/unwind/arch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cfi_status {
    CFI_OK,
    CFI_ABSENT,      /* no FDE covers this pc */
    CFI_BAD,         /* the bytes are cut or contradict themselves */
    CFI_UNSUPPORTED, /* well formed, but of a kind that is refused here */
    CFI_UNREADABLE,  /* the caller's read refused an address */
    CFI_UNKNOWN,     /* the value of a register is needed that is not known */
};

/* One loaded module. Its bytes lie at [lo, hi), all of it readable and holding
 * .eh_frame; the size of .eh_frame is not known and not needed. .eh_frame_hdr lies there
 * too, and then hdr_size may be larger than the truth; or it lies elsewhere, in another segment, and then
 * so many bytes of it can be read. Where there is no .eh_frame_hdr (static
 * programs are often linked without), hdr is NULL and eh_frame counts, which is not
 * looked at otherwise; with both NULL the module has no CFI. bias is what must be
 * added to a pointer to get the address that the program knows: zero in a live
 * process, something else for a file image. */
struct cfi_section {
    const uint8_t *hdr;
    size_t hdr_size;
    const uint8_t *eh_frame;
    const uint8_t *lo;
    const uint8_t *hi;
    intptr_t bias;
};

/* How the caller's value of one register is found. */
enum cfi_kind {
    CFI_SAME,           /* not touched; also what no instruction ever named */
    CFI_UNDEFINED,      /* lost; for the return address: no caller */
    CFI_OFFSET,         /* saved at CFA + value */
    CFI_VAL_OFFSET,     /* is CFA + value */
    CFI_REGISTER,       /* is in the register whose column is value */
    CFI_EXPRESSION,     /* saved where the expression says */
    CFI_VAL_EXPRESSION, /* is what the expression gives */
};

/* A kind in the low three bits and a signed value above. */
struct cfi_slot {
    int32_t word;
};

enum cfi_cfa_kind {
    CFI_CFA_NONE, /* never defined: the row cannot be used */
    CFI_CFA_REGISTER,
    CFI_CFA_EXPRESSION,
};

struct cfi_cfa {
    int32_t offset;     /* from the register */
    int32_t expression; /* a value for cfi_row_expr */
    uint16_t column;    /* DWARF number, of a register without a slot possibly */
    uint16_t kind;      /* enum cfi_cfa_kind: which of the above count */
};

struct cfi_state {
    struct cfi_cfa cfa;
    struct cfi_slot slot[ARCH_SLOT_COUNT];
};

/* The rules for every pc of [start, end), which is a part of its FDE's range. */
struct cfi_row {
    uint64_t start;
    uint64_t end;
    uint64_t fde_start;
    uint64_t fde_end;
    const uint8_t *origin; /* what expression values count from */
    const uint8_t *limit;  /* no expression goes beyond */
    struct cfi_state state;
    bool is_signal_frame; /* the caller's pc is no return address: do not look up pc - 1 */
};

struct cfi_expr {
    const uint8_t *bytes;
    size_t length;
};

static inline enum cfi_kind cfi_slot_kind(struct cfi_slot slot)
{
    return (enum cfi_kind)(slot.word & 7);
}

static inline int32_t cfi_slot_value(struct cfi_slot slot)
{
    return slot.word >> 3;
}

/* The row that holds at pc (an address as the section's bias gives them). On any
 * status but CFI_OK the content of *row means nothing. */
enum cfi_status cfi_find_row(const struct cfi_section *section, uint64_t pc, struct cfi_row *row);

/* The expression that a value of this row stands for. Valid as long as the module
 * is mapped; empty if it would go beyond the section, whose bytes may be others by now. */
struct cfi_expr cfi_row_expr(const struct cfi_row *row, int32_t value);

/* The registers of one frame. Bit n of known says that value[n] is one.
 * value[ARCH_SLOT_RA] is the frame's pc. */
struct cfi_registers {
    uint64_t value[ARCH_SLOT_COUNT];
    uint32_t known;
};

/* How expressions and steps see the stack: read gives the eight bytes at address,
 * or false when they must not be touched. */
struct cfi_memory {
    bool (*read)(void *context, uint64_t address, uint64_t *value);
    void *context;
};

/* Runs an expression and gives the top of its stack. first, when not NULL, is on
 * the stack to begin with: the CFA, for the expressions of registers. At most 256
 * operations and 16 values deep, beyond which it is CFI_UNSUPPORTED. */
enum cfi_status cfi_eval(struct cfi_expr expr, const struct cfi_registers *registers,
                         const struct cfi_memory *memory, const uint64_t *first, uint64_t *result);

/* Replaces the registers of a frame by those of its caller: the complete and slow
 * way, for what rule.h has no rule. A register that cannot be had becomes unknown;
 * the return address is unknown after CFI_OK only when there is no caller. On any
 * other status the registers are as before. */
enum cfi_status cfi_step(const struct cfi_row *row, const struct cfi_memory *memory,
                         struct cfi_registers *registers);

#endif

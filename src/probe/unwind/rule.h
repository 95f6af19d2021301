/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rule: how to step over one frame, in a word that a hash can hold.
 *
 *     63 ............. 32 | 31 ......... 8 | 7 .... 0
 *        cfa, signed 32   |  fp, signed 24 |   kind
 *
 * so that the kind is a byte move and each number one arithmetic shift. A word of
 * zero is no rule, which is what an empty slot of a cache holds.
 *
 *     kind           CFA                                  caller's FP
 *     RULE_SP        SP + cfa                             fp: see below
 *     RULE_FP        FP + cfa                             fp: see below
 *     RULE_PLT       SP + 8 + (pc % 16 >= cfa ? 8 : 0)    unchanged
 *     RULE_FP_DEREF  word at FP + cfa                     at CFA + fp; fp 0: at FP
 *     RULE_SIGNAL    word at SP + ARCH_SIGNAL_SP          at SP + ARCH_SIGNAL_FP
 *     RULE_END       there is no caller
 *     RULE_COMPLEX   by cfi_find_row and cfi_step
 *
 *     In RULE_SP and RULE_FP, fp 0 leaves FP unchanged (nothing is ever saved at
 *     the CFA itself, which belongs to the caller); any other fp means that FP was
 *     saved at CFA + fp.
 *
 * The caller's SP is the CFA. The return address is at CFA + ARCH_RA_OFFSET, but in
 * RULE_SIGNAL at SP + ARCH_SIGNAL_RA, and then it is the interrupted instruction
 * itself and no return address. Rows of code marked as a signal frame that is not
 * the kernel's are RULE_COMPLEX, so RULE_SIGNAL is the only rule with that turn.
 *
 * A rule follows FP and SP only. The other registers that a callee preserves are
 * lost by it, and a RULE_COMPLEX frame further out may need one: the loader's
 * _dl_runtime_resolve keeps its CFA in rbx. cfi_step then says CFI_UNKNOWN, and the
 * walk has to begin again from the innermost frame by cfi_step alone.
 *
 * Any context; see cfi.h.
 */
#ifndef HW_PROBE_UNWIND_RULE_H
#define HW_PROBE_UNWIND_RULE_H

#include "probe/unwind/cfi.h"

#include <stdbool.h>
#include <stdint.h>

enum rule_kind {
    RULE_NONE,
    RULE_SP,
    RULE_FP,
    RULE_PLT,
    RULE_FP_DEREF,
    RULE_SIGNAL,
    RULE_END,
    RULE_COMPLEX,
    RULE_KIND_COUNT,
};

struct rule {
    uint64_t bits;
};

static inline enum rule_kind rule_kind(struct rule rule)
{
    return (enum rule_kind)(uint8_t)rule.bits;
}

static inline int64_t rule_cfa(struct rule rule)
{
    return (int64_t)rule.bits >> 32;
}

static inline int64_t rule_fp(struct rule rule)
{
    return (int32_t)(uint32_t)rule.bits >> 8;
}

/* The rule of a row that cfi_find_row gave; never RULE_NONE. */
struct rule rule_compile(const struct cfi_row *row);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cfi_meaning: what a rule says, as numbers.
 *
 * In an imagined program each register holds an arbitrary value and each word of
 * memory a hash of its address. There a rule gives a CFA and the caller's registers,
 * and two rules, written in whatever form, mean the same exactly when these numbers
 * are equal (but for a chance of one in 2^64).
 */
#ifndef HW_TESTS_UNWIND_CFI_MEANING_H
#define HW_TESTS_UNWIND_CFI_MEANING_H

#include "probe/unwind/cfi.h"
#include "probe/unwind/rule.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* A register of the caller; bits are 0 when it is undefined. */
struct value {
    bool is_known;
    uint64_t bits;
    bool is_clobbered; /* it counts from a register that has no slot */
};

struct meaning {
    uint64_t cfa;
    bool has_cfa;      /* else the CFA was refused, and cfa was given from outside */
    bool is_clobbered; /* the CFA counts from a register that has no slot */
    struct value slot[ARCH_SLOT_COUNT];
};

/* The DWARF column and the name of each slot. */
struct meaning_column {
    int number;
    const char *name;
};
extern const struct meaning_column meaning_columns[ARCH_SLOT_COUNT];

/* The registers and the memory of the imagined program, stopped at pc. */
struct cfi_registers meaning_registers(uint64_t pc);
extern const struct cfi_memory meaning_memory;

/* Each gives false when something is said in a way that is not understood here. */
bool meaning_of_row(const struct cfi_row *row, uint64_t pc, struct meaning *m);

/* cfa is taken for the CFA where libdw refuses to name one. */
bool meaning_of_libdw(Dwarf_Frame *frame, uint64_t pc, uint64_t cfa, struct meaning *m);

/* Fills in the CFA, SP, FP and the return address, by the words of rule.h. False for
 * kinds that name no caller: RULE_END and RULE_COMPLEX. */
bool meaning_of_rule(struct rule rule, uint64_t pc, struct meaning *m);

/* Whether both are the same number, or both undefined. */
bool value_equals(struct value a, struct value b);

#endif

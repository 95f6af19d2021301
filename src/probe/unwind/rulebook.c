/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rulebook: the rules of all return addresses met so far.
 *
 *     bucket = hash(pc):  | key | rule | key | rule |     one half of a cache line
 *     key = pc ^ rule ^ mark(generation)
 *
 * Shared by all threads without a lock: a reader that catches a writer between
 * the two words computes a pc that is not its own and misses. An entry of an
 * older generation misses likewise. A full bucket loses its older entry: the
 * book is a cache, and what is lost is compiled again.
 */
#include "probe/lane.h"
#include "probe/memory.h"
#include "probe/module.h"
#include "probe/unwind/walk.h"

struct rulebook_entry *rulebook;

bool rulebook_init(void)
{
    rulebook = memory_pages(sizeof *rulebook << (RULEBOOK_BITS + 1));
    return rulebook != NULL;
}

static void rulebook_add(uint64_t pc, struct rule rule, uint64_t mark)
{
    struct rulebook_entry *e = rulebook_bucket(pc);
    if (__atomic_load_n(&e[0].key, __ATOMIC_RELAXED) != 0) {
        __atomic_store_n(&e[1].key, __atomic_load_n(&e[0].key, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
        __atomic_store_n(&e[1].rule.bits, __atomic_load_n(&e[0].rule.bits, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
    }
    __atomic_store_n(&e[0].key, pc ^ rule.bits ^ mark, __ATOMIC_RELAXED);
    __atomic_store_n(&e[0].rule.bits, rule.bits, __ATOMIC_RELAXED);
}

bool rulebook_is_planted(const struct cfi_section *section, uint64_t pc)
{
    struct cfi_row row;
    return cfi_find_row(section, pc, &row) == CFI_OK && row.fde_start == pc;
}

__attribute__((noinline)) struct rule rulebook_find_slow(struct lane *lane, uint64_t pc, enum record_cut *cut)
{
    struct cfi_section section;
    struct cfi_row row;
    const struct rule none = {RULE_NONE};
    *cut = CUT_NO_CFI;
    uint64_t generation = __atomic_load_n(&module_generation, __ATOMIC_ACQUIRE);
    if (!module_find(lane, pc - 1, &section))
        return none;
    switch (cfi_find_row(&section, pc - 1, &row)) {
    case CFI_OK:
        break;
    case CFI_ABSENT:
        return rulebook_is_planted(&section, pc) ? (struct rule){RULE_END} : none;
    default:
        *cut = CUT_BAD_CFI;
        return none;
    }
    struct rule rule = rule_compile(&row);
    /* Code may be on its way out, or has just been found to be other code. */
    if (__atomic_load_n(&module_closing, __ATOMIC_ACQUIRE) == 0 &&
        __atomic_load_n(&module_generation, __ATOMIC_ACQUIRE) == generation)
        rulebook_add(pc, rule, rulebook_mark(generation));
    return rule;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * complete: the slow walk that follows every register a callee must preserve.
 *
 * It begins in this very function, by the unwind data of our own library, and
 * keeps frames only once it has passed the hook. Signal frames lead from one
 * stack to another (an alternate one to the interrupted one), so the order of
 * stack addresses is checked on one stack only; the number of such changes is
 * limited.
 */
#include "probe/arch.h"
#include "probe/lane.h"
#include "probe/life.h"
#include "probe/module.h"
#include "probe/real.h"
#include "probe/sys.h"
#include "probe/unwind/walk.h"

enum { COMPLETE_SWITCHES_MAX = 8 };

/* The stack of a frame: readable from its stack pointer on. */
struct complete_frame {
    struct walk *walk;
    uint64_t sp;
};

/* Below the stack pointer there is what the frame has given up. The range may remember that page from
 * when it was in use; meanwhile the program may have taken it away. */
static bool complete_is_gone(const struct complete_frame *f, uint64_t address)
{
    return address < (f->sp & ~UINT64_C(4095)) && (life_is_caged() || !sys_is_readable(address));
}

static bool complete_read(void *context, uint64_t address, uint64_t *value)
{
    const struct complete_frame *f = context;
    struct range *r = &f->walk->range;
    if ((address & 7) != 0 || address < r->lo || (address + 8 > r->hi && !range_extend(f->walk, address + 8)))
        return false;
    if (complete_is_gone(f, address))
        return false;
    *value = *(const uint64_t *)(uintptr_t)address;
    return true;
}

/* One step outwards. is_exact: the pc is an instruction, no return address. With
 * a lane, modules that are new are told through it. */
static enum cfi_status complete_step(struct lane *lane, struct walk *walk, struct cfi_registers *regs,
                                     bool *is_exact)
{
    struct cfi_section section;
    struct cfi_row row;
    struct complete_frame frame = {walk, regs->value[ARCH_SLOT_SP]};
    const struct cfi_memory memory = {complete_read, &frame};
    uint64_t pc = regs->value[ARCH_SLOT_RA] - (*is_exact ? 0 : 1);
    if (!module_find(lane, pc, &section))
        return CFI_ABSENT;
    enum cfi_status status = cfi_find_row(&section, pc, &row);
    if (status == CFI_ABSENT && !*is_exact && rulebook_is_planted(&section, pc + 1)) {
        regs->known &= ~(1u << ARCH_SLOT_RA);
        return CFI_OK;
    }
    if (status != CFI_OK)
        return status;
    *is_exact = row.is_signal_frame;
    return cfi_step(&row, &memory, regs);
}

static enum record_cut complete_cut(enum cfi_status status)
{
    switch (status) {
    case CFI_ABSENT:
        return CUT_NO_CFI;
    case CFI_UNREADABLE:
        return CUT_UNREADABLE;
    default:
        return CUT_BAD_CFI;
    }
}

/* The interrupted code ran on another stack: is it one that can be read? A function that is about
 * to return has given up its room, and what it saved there may be asked for: from the page below, even. */
static bool complete_switch(struct walk *walk, uint64_t sp)
{
    uint64_t saved = (sp - ARCH_RED_ZONE) & ~UINT64_C(7);
    if (life_is_caged() || !sys_is_readable(sp & ~UINT64_C(7)))
        return false;
    (void)range_enter(walk, sp);
    if (saved < walk->range.lo && sys_is_readable(saved))
        walk->range.lo = saved & ~UINT64_C(4095);
    return true;
}

/* Walks outwards and keeps every frame whose stack pointer is at `from` or has
 * been passed; the frames end up innermost first. */
static void complete_run(struct lane *lane, struct cfi_registers *regs, uint64_t from)
{
    struct walk *walk = &lane->walk;
    bool is_exact = false, keeping = false;
    unsigned switches = 0;
    for (;;) {
        uint64_t sp = regs->value[ARCH_SLOT_SP];
        if (!keeping && sp == from)
            keeping = true;
        if (keeping) {
            if (walk->n == walk->room && !walk_grow(walk)) {
                walk->cut = CUT_DEPTH;
                return;
            }
            walk->frames[walk->n].pc = regs->value[ARCH_SLOT_RA] | (is_exact ? RECORD_FRAME_EXACT : 0);
            walk->n++;
        } else if (sp > from) {
            walk->cut = CUT_BAD_CFI;
            return;
        }
        bool was_signal = is_exact;
        enum cfi_status status = complete_step(lane, walk, regs, &is_exact);
        if (status != CFI_OK) {
            walk->cut = status == CFI_ABSENT && walk_is_entry(sp) ? CUT_NOT : complete_cut(status);
            return;
        }
        if ((regs->known & 1u << ARCH_SLOT_RA) == 0 || regs->value[ARCH_SLOT_RA] == 0)
            return;
        uint64_t next = regs->value[ARCH_SLOT_SP];
        if (is_exact && next - walk->range.lo >= walk->range.hi - walk->range.lo) {
            if (++switches > COMPLETE_SWITCHES_MAX || !complete_switch(walk, next)) {
                walk->cut = CUT_UNREADABLE;
                return;
            }
        } else if (next <= sp && !(is_exact || was_signal)) {
            walk->cut = CUT_BAD_CFI;
            return;
        }
    }
}

__attribute__((noinline)) void complete_take(struct lane *lane, uint64_t sp)
{
    struct walk *walk = &lane->walk;
    struct cfi_registers regs;
    walk_forget(walk);
    walk->cut = CUT_NOT;
    arch_registers(&regs);
    /* We run below the hook's caller, perhaps on a page that was never asked for. */
    uint64_t here = regs.value[ARCH_SLOT_SP] & ~UINT64_C(4095);
    if (sp - walk->range.lo < walk->range.hi - walk->range.lo && here < walk->range.lo)
        walk->range.lo = here;
    complete_run(lane, &regs, sp);
    if (walk->cut != CUT_NOT || ((regs.known & 1u << ARCH_SLOT_RA) != 0 && regs.value[ARCH_SLOT_RA] == 0))
        range_doubt(walk, regs.value[ARCH_SLOT_SP]);
    for (uint32_t i = 0, j = walk->n; i + 1 < j; i++) { /* outermost first */
        j--;
        struct frame inner = walk->frames[i];
        walk->frames[i] = walk->frames[j];
        walk->frames[j] = inner;
    }
    walk->changed = 0;
    walk->is_complete = true;
}

__attribute__((noinline)) enum complete_answer complete_find(uint64_t sp)
{
    struct walk walk = {0};
    struct cfi_registers regs;
    bool is_exact = false, is_outside = false, is_interrupted = false;
    arch_registers(&regs);
    (void)range_enter(&walk, regs.value[ARCH_SLOT_SP]);
    for (unsigned frames = 0; frames < WALK_DEPTH_MAX; frames++) {
        bool is_ours = real_is_ours(regs.value[ARCH_SLOT_RA]);
        uint64_t from = regs.value[ARCH_SLOT_SP];
        is_outside |= !is_ours;
        if (sp == 0 && is_ours && is_interrupted)
            return COMPLETE_FOUND;
        enum cfi_status status = complete_step(NULL, &walk, &regs, &is_exact);
        if (status != CFI_OK)
            return status == CFI_ABSENT && walk_is_entry(from) ? COMPLETE_ABSENT : COMPLETE_UNKNOWN;
        if ((regs.known & 1u << ARCH_SLOT_RA) == 0 || regs.value[ARCH_SLOT_RA] == 0)
            return COMPLETE_ABSENT;
        uint64_t next = regs.value[ARCH_SLOT_SP];
        is_interrupted |= is_exact;
        if (is_ours && is_outside && next == sp)
            return COMPLETE_FOUND;
        if (is_exact && next - walk.range.lo >= walk.range.hi - walk.range.lo) {
            if (!complete_switch(&walk, next))
                return COMPLETE_UNKNOWN;
        } else if (next <= from && !is_exact) {
            return COMPLETE_UNKNOWN;
        }
    }
    return COMPLETE_UNKNOWN;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * range: which memory around the stack pointer may be read.
 *
 * The kernel is asked page by page (sys_is_readable), once for every page of a
 * stack; the answer is kept while the thread runs on that stack. Programs that
 * switch stacks (coroutines, alternate signal stacks) have the last few ranges
 * remembered. A stack that does not end as it should, in the frame of a function that
 * has no caller, may have led beyond its own memory into what lies above it, which the program may
 * take away: such a range is doubted, and asked for again before the next use. Where system calls are not to be made (seccomp) a thread's own
 * stack is known all the same: it ends at its thread block, or for the first
 * thread at the arguments of the program.
 */
#include "probe/lane.h"
#include "probe/life.h"
#include "probe/real.h"
#include "probe/sys.h"
#include "probe/unwind/walk.h"

enum { RANGE_PAGE = 4096, RANGE_STEPS_MAX = 1 << 16 }; /* 256 MiB of stack */

static uint64_t range_page(uint64_t address)
{
    return address & ~(uint64_t)(RANGE_PAGE - 1);
}

static bool range_is_inside(const struct range *r, uint64_t sp)
{
    return sp - r->lo < r->hi - r->lo;
}

/* The end of the stack that sp lies on, without asking the kernel; 0 = not known. */
static uint64_t range_known_end(uint64_t sp)
{
    const uint64_t reach = UINT64_C(8) << 20;
    uint64_t thread = arch_thread_pointer();
    uint64_t first = (uint64_t)(uintptr_t)real.stack_end;
    if (sp < first && first - sp < reach)
        return range_page(first);
    if (sp < thread && thread - sp < reach)
        return range_page(thread);
    return 0;
}

static void range_keep(struct walk *walk)
{
    for (unsigned i = 0; i < WALK_RANGES; i++) {
        if (walk->ranges[i].lo == walk->range.lo || walk->ranges[i].hi == walk->range.hi) {
            walk->ranges[i] = walk->range;
            return;
        }
    }
    walk->ranges[walk->next_range++ % WALK_RANGES] = walk->range;
}

/* Can its last page be read still? */
static bool range_is_there(const struct range *r)
{
    return life_sandbox || sys_is_readable(r->hi - RANGE_PAGE);
}

void range_doubt(struct walk *walk, uint64_t sp)
{
    uint64_t end = range_page(sp + RANGE_PAGE - 1);
    if (walk->range.hi > end && end > walk->range.lo)
        walk->range.hi = end; /* nothing beyond was looked at */
    walk->doubted = walk->range;
    walk->range.lo = walk->range.hi; /* nothing lies in it: range_settle_doubt comes first */
}

void range_settle_doubt(struct walk *walk)
{
    if (walk->doubted.hi == 0)
        return;
    walk->range = walk->doubted;
    walk->doubted = (struct range){0, 0};
    if (range_is_there(&walk->range))
        return;
    walk_forget(walk);
    walk->range = (struct range){0, 0};
    for (unsigned i = 0; i < WALK_RANGES; i++)
        walk->ranges[i] = walk->range;
}

bool range_enter(struct walk *walk, uint64_t sp)
{
    struct range *r = &walk->range;
    if (r->hi != 0) {
        range_keep(walk);
        /* The same stack, grown downwards? */
        if (sp < r->lo && r->lo - sp < (uint64_t)RANGE_PAGE * 64 && !life_sandbox) {
            uint64_t page = r->lo;
            while (page > range_page(sp) && sys_is_readable(page - RANGE_PAGE))
                page -= RANGE_PAGE;
            if (page == range_page(sp)) {
                r->lo = page;
                return true;
            }
        }
    }
    for (unsigned i = 0; i < WALK_RANGES; i++) {
        if (range_is_inside(&walk->ranges[i], sp) && range_is_there(&walk->ranges[i])) {
            *r = walk->ranges[i];
            return false;
        }
    }
    r->lo = range_page(sp);
    r->hi = r->lo + RANGE_PAGE;
    return false;
}

bool range_extend(struct walk *walk, uint64_t address)
{
    struct range *r = &walk->range;
    if (address < r->lo || address - r->hi > (uint64_t)RANGE_PAGE * RANGE_STEPS_MAX)
        return false;
    if (life_sandbox) {
        uint64_t end = range_known_end(r->lo);
        if (address > end)
            return false;
        r->hi = end;
        return true;
    }
    while (r->hi < address) {
        if (!sys_is_readable(r->hi))
            return false;
        r->hi += RANGE_PAGE;
    }
    return true;
}

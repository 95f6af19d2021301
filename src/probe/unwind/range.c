/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * range: which memory around the stack pointer may be read.
 *
 * The kernel is asked page by page (sys_is_readable), once for every page of a
 * stack; the answer is kept while the thread runs on that stack. Programs that
 * switch stacks (coroutines, alternate signal stacks) have the last few ranges
 * remembered. Where system calls are not to be made (seccomp) a thread's own
 * stack is known all the same: it ends at its thread block, or for the first
 * thread at the arguments of the program.
 *
 * A stack that does not end as it should, in the frame of a function that has
 * no caller, may have led beyond its own memory into what lies above it, which
 * the program may take away. Unless it is the thread's own, such a range is
 * doubted: its last page is asked for again before the next use.
 */
#include "probe/lane.h"
#include "probe/life.h"
#include "probe/real.h"
#include "probe/sys.h"
#include "probe/unwind/walk.h"

enum {
    RANGE_PAGE = 4096,
    RANGE_STEPS_MAX = 1 << 16, /* 256 MiB of stack */
    RANGE_OWN_STEPS = 2048,    /* 8 MiB, asked for once */
};

static uint64_t range_page(uint64_t address)
{
    return address & ~(uint64_t)(RANGE_PAGE - 1);
}

static bool range_is_inside(const struct range *r, uint64_t sp)
{
    return sp - r->lo < r->hi - r->lo;
}

/* Up to where the thread's own stack is mapped, if sp lies on it; 0 = it does not, or nobody knows. The thread block
 * of the first thread is somewhere else. */
static uint64_t range_own_end(uint64_t sp)
{
    const uint64_t reach = (uint64_t)RANGE_OWN_STEPS * RANGE_PAGE;
    uint64_t thread = arch_thread_pointer(), first = (uint64_t)(uintptr_t)real.stack_end;
    if (sp < first && first - sp < reach)
        return range_page(first + RANGE_PAGE - 1);
    bool is_first = life.first_thread == 0 || thread == life.first_thread;
    return !is_first && sp < thread && thread - sp < reach ? range_page(thread + RANGE_PAGE - 1) : 0;
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
    return !r->is_doubtful || r->is_own || life_is_caged() || sys_is_readable(r->hi - RANGE_PAGE);
}

/* Is it part of that, without a gap up to its end? */
static bool range_is_own(const struct range *r)
{
    uint64_t end = range_own_end(r->lo);
    if (end == 0 || r->hi > end || life_is_caged())
        return false;
    unsigned steps = 0;
    for (uint64_t page = r->hi; page < end; page += RANGE_PAGE) {
        if (++steps > RANGE_OWN_STEPS || !sys_is_readable(page))
            return false;
    }
    return true;
}

void range_doubt(struct walk *walk, uint64_t sp)
{
    struct range *r = &walk->range;
    uint64_t end = range_page(sp + RANGE_PAGE - 1);
    if (r->is_own)
        return;
    if (r->hi > end && end > r->lo)
        r->hi = end;                                /* nothing beyond was looked at */
    r->is_own = !r->is_doubtful && range_is_own(r); /* asked once */
    if (r->is_own)
        return;
    r->is_doubtful = true;
    walk->doubted = *r;
    r->lo = r->hi; /* nothing lies in it: range_settle_doubt comes first */
}

void range_settle_doubt(struct walk *walk)
{
    if (walk->doubted.hi == 0)
        return;
    walk->range = walk->doubted;
    walk->doubted = (struct range){0};
    if (range_is_there(&walk->range))
        return;
    walk_forget(walk);
    walk->range = (struct range){0};
    for (unsigned i = 0; i < WALK_RANGES; i++)
        walk->ranges[i] = walk->range;
}

bool range_enter(struct walk *walk, uint64_t sp)
{
    struct range *r = &walk->range;
    if (r->hi != 0) {
        range_keep(walk);
        /* The same stack, grown downwards? */
        if (sp < r->lo && r->lo - sp < (uint64_t)RANGE_PAGE * 64 && !life_is_caged()) {
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
    *r = (struct range){.lo = range_page(sp), .hi = range_page(sp) + RANGE_PAGE};
    return false;
}

bool range_extend(struct walk *walk, uint64_t address)
{
    struct range *r = &walk->range;
    if (address < r->lo || address - r->hi > (uint64_t)RANGE_PAGE * RANGE_STEPS_MAX)
        return false;
    if (life_is_caged()) {
        uint64_t end = range_own_end(r->lo);
        if (address > end)
            return false;
        r->hi = end;
        return true;
    }
    r->is_own = r->is_own && address <= range_own_end(r->lo);
    while (r->hi < address) {
        if (!sys_is_readable(r->hi))
            return false;
        r->hi += RANGE_PAGE;
    }
    return true;
}

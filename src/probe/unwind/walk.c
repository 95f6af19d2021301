/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * walk: see walk.h for the shape.
 *
 * State of a walk in progress
 *
 *     frames  [0 ........ k][k+1 ... a]      k: next remembered frame to look at
 *              not yet seen   held           a: innermost frame held in place
 *     scratch [0 .... m)                     built anew, innermost first
 *
 * The new stack, innermost first: scratch, the held frames a..k+1, and what
 * comes. A frame that cannot be held goes to scratch, and the held run before
 * it, so that the order stays.
 */
#include "probe/unwind/walk.h"

#include "probe/arch.h"
#include "probe/lane.h"
#include "probe/memory.h"
#include "probe/module.h"
#include "probe/real.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

struct step {
    uint64_t pc, sp, fp; /* of the frame to be looked at */
    uint64_t mark;       /* of the rulebook's generation */
    int64_t k, a;
    uint32_t m;
    uint32_t changed; /* lowest held frame whose pc is new */
};

enum walk_state {
    WALK_ON,
    WALK_END,     /* the outermost frame has been taken, or the walk is cut */
    WALK_COMPLEX, /* SP and FP are not enough */
};

void walk_forget(struct walk *walk)
{
    walk->n = 0;
    walk->changed = 0;
}

bool walk_grow(struct walk *walk)
{
    if (walk->room >= WALK_DEPTH_MAX)
        return false;
    uint32_t room = walk->room * 4 < WALK_DEPTH_MAX ? walk->room * 4 : WALK_DEPTH_MAX;
    struct frame *frames = memory_pages(2 * room * sizeof *frames);
    if (frames == NULL)
        return false;
    memory_copy(frames, walk->frames, walk->room * sizeof *frames);
    memory_copy(frames + room, walk->scratch, walk->room * sizeof *frames);
    walk->frames = frames;
    walk->scratch = frames + room;
    walk->room = room;
    return true;
}

/* Moves the held run to scratch: something is about to come between. */
static bool walk_spill(struct walk *walk, struct step *s)
{
    uint32_t held = (uint32_t)(s->a - s->k);
    while (s->m + held + 1 > walk->room) {
        if (!walk_grow(walk))
            return false;
    }
    for (int64_t i = s->a; i > s->k; i--)
        walk->scratch[s->m++] = walk->frames[i];
    s->a = s->k;
    return true;
}

/* The next remembered frame is no more. */
static bool walk_drop(struct walk *walk, struct step *s)
{
    if (!walk_spill(walk, s)) {
        walk->cut = CUT_DEPTH;
        return false;
    }
    s->k--;
    s->a--;
    return true;
}

/* Takes the frame at s: in place if a remembered one ends at the same cfa. */
static bool walk_keep(struct walk *walk, struct step *s, uint64_t cfa, struct rule rule)
{
    if (s->k >= 0 && walk->frames[s->k].cfa == cfa) {
        struct frame *f = &walk->frames[s->k];
        if (f->pc != s->pc || f->rule.bits != rule.bits) {
            f->pc = s->pc;
            f->rule = rule;
            s->changed = (uint32_t)s->k;
        }
        s->k--;
        return true;
    }
    if (!walk_spill(walk, s))
        return false;
    struct frame *f = &walk->scratch[s->m++];
    f->pc = s->pc;
    f->cfa = cfa;
    f->rule = rule;
    return true;
}

/* Where the frame ends, by its rule; false when that cannot be read. */
static bool walk_cfa(struct walk *walk, const struct step *s, struct rule rule, uint64_t *cfa)
{
    uint64_t at;
    switch (rule_kind(rule)) {
    case RULE_SP:
        *cfa = s->sp + (uint64_t)rule_cfa(rule);
        break;
    case RULE_FP:
        *cfa = s->fp + (uint64_t)rule_cfa(rule);
        break;
    default: /* RULE_FP_DEREF */
        at = s->fp + (uint64_t)rule_cfa(rule);
        if (at < s->sp || (at & 7) != 0 || (at + 8 > walk->range.hi && !range_extend(walk, at + 8)))
            return false;
        *cfa = *(const uint64_t *)(uintptr_t)at;
    }
    return *cfa > s->sp && (*cfa & 7) == 0 && (*cfa <= walk->range.hi || range_extend(walk, *cfa));
}

/* Goes to the caller; false when its FP cannot be read. */
static bool walk_up(struct step *s, struct rule rule, uint64_t cfa)
{
    int64_t offset = rule_fp(rule);
    if (offset != 0 || rule_kind(rule) == RULE_FP_DEREF) {
        uint64_t at = offset != 0 ? cfa + (uint64_t)offset : s->fp;
        if (at < s->sp || at > cfa - 8 || (at & 7) != 0)
            return false;
        s->fp = *(const uint64_t *)(uintptr_t)at;
    }
    s->pc = *(const uint64_t *)(uintptr_t)(cfa + (uint64_t)(int64_t)ARCH_RA_OFFSET);
    s->sp = cfa;
    return true;
}

/* The last frame that is known: without a caller, or cut here. */
static enum walk_state walk_last(struct walk *walk, struct step *s, struct rule rule, enum record_cut cut)
{
    walk->cut = walk_keep(walk, s, s->sp + 8, rule) ? cut : CUT_DEPTH;
    if (cut != CUT_NOT)
        range_doubt(walk, s->sp);
    return WALK_END;
}

/* The process began here: the loader's first instructions have no unwind data
 * and no caller. Nothing but they runs with the initial stack pointer. */
bool walk_is_entry(uint64_t sp)
{
    return (uint64_t)(uintptr_t)real.stack_end - sp <= WALK_ENTRY_REACH;
}

/* One frame, with all checks. */
static __attribute__((noinline)) enum walk_state walk_frame(struct lane *lane, struct step *s)
{
    struct walk *walk = &lane->walk;
    enum record_cut cut = CUT_NOT;
    uint64_t cfa;
    if (s->pc == 0) { /* where hand-made stacks begin */
        range_doubt(walk, s->sp);
        return WALK_END;
    }
    while (s->k >= 0 && walk->frames[s->k].cfa <= s->sp) {
        if (!walk_drop(walk, s))
            return WALK_END;
    }
    struct rule rule = rulebook_find(lane, s->pc, s->mark, &cut);
    switch (rule_kind(rule)) {
    case RULE_SP:
    case RULE_FP:
    case RULE_FP_DEREF:
        break;
    case RULE_NONE:
        return walk_last(walk, s, rule, walk_is_entry(s->sp) ? CUT_NOT : cut);
    case RULE_END:
        return walk_last(walk, s, rule, CUT_NOT);
    default:
        return WALK_COMPLEX;
    }
    if (!walk_cfa(walk, s, rule, &cfa))
        return walk_last(walk, s, (struct rule){RULE_NONE}, CUT_UNREADABLE);
    while (s->k >= 0 && walk->frames[s->k].cfa < cfa) {
        if (!walk_drop(walk, s))
            return WALK_END;
    }
    if (!walk_keep(walk, s, cfa, rule)) {
        walk->cut = CUT_DEPTH;
        return WALK_END;
    }
    if (!walk_up(s, rule, cfa)) {
        walk->cut = CUT_UNREADABLE;
        range_doubt(walk, cfa);
        return WALK_END;
    }
    return WALK_ON;
}

/* FP in frame k, if it was `fp` in frame `from` and the frames between are as
 * remembered: what the nearest of them that saves FP has saved. */
static inline uint64_t walk_saved_fp(const struct frame *frames, int64_t k, int64_t from, uint64_t fp)
{
    for (int64_t i = k + 1; i <= from; i++) {
        int64_t offset = rule_fp(frames[i].rule);
        if (offset != 0)
            return *(const uint64_t *)(uintptr_t)(frames[i].cfa + (uint64_t)offset);
    }
    return fp;
}

/* The hot loop: as long as frames can be held in place, the one before having been. False: the frame at s
 * wants a closer look; true: the outermost frame has been held.
 *
 * SP is where it was when the frame was remembered. With the same return address a frame that ends relative
 * to SP is then the same without another look: the inner loop. FP is only looked for where a frame needs it.
 *
 * Otherwise the remembered cfa is compared through a copy that the compiler
 * cannot see through, and used itself afterwards: the loads of the next frame
 * then depend on a prediction that is already there, not on the rule just
 * looked up. */
static inline __attribute__((always_inline)) bool walk_run(const struct walk *walk, struct step *s)
{
    struct frame *const frames = walk->frames;
    uint64_t pc = s->pc, sp = s->sp, fp = s->fp;
    int64_t k = s->k, fp_from = k; /* fp is that of frame fp_from */
    while (k >= 0) {
        struct frame *f = &frames[k];
        struct rule rule = f->rule;
        if (LIKELY(pc == f->pc && rule_kind(rule) == RULE_SP)) {
            do {
                sp = f->cfa;
                pc = *(const uint64_t *)(uintptr_t)(sp + (uint64_t)(int64_t)ARCH_RA_OFFSET);
                f--;
            } while (--k >= 0 && LIKELY(pc == f->pc && rule_kind(f->rule) == RULE_SP));
            continue;
        }
        uint64_t expected = f->cfa;
        if (pc != f->pc) {
            if (UNLIKELY(!rulebook_peek(pc, s->mark, &rule)))
                break;
            if (LIKELY(rule.bits == f->rule.bits && rule_kind(rule) == RULE_SP)) {
                /* The same rule at the same SP: it ends where the remembered one does. */
                f->pc = pc;
                s->changed = (uint32_t)k--;
                sp = expected;
                pc = *(const uint64_t *)(uintptr_t)(sp + (uint64_t)(int64_t)ARCH_RA_OFFSET);
                continue;
            }
        }
        if (UNLIKELY(rule_kind(rule) > RULE_FP || rule_kind(rule) == RULE_NONE)) {
            if (rule_kind(rule) == RULE_END && k == 0 && pc == f->pc && expected == sp + 8) {
                s->k = -1;
                return true;
            }
            break;
        }
        uint64_t base = sp, shadow = expected;
        if (rule_kind(rule) == RULE_FP) {
            base = fp = walk_saved_fp(frames, k, fp_from, fp);
            fp_from = k;
        }
        __asm__("" : "+r"(shadow));
        if (UNLIKELY(base + (uint64_t)rule_cfa(rule) != shadow))
            break;
        if (UNLIKELY(rule_fp(rule) != 0 && expected + (uint64_t)rule_fp(rule) - sp > expected - 8 - sp))
            break;
        if (pc != f->pc) {
            f->pc = pc;
            f->rule = rule;
            s->changed = (uint32_t)k;
        }
        pc = *(const uint64_t *)(uintptr_t)(expected + (uint64_t)(int64_t)ARCH_RA_OFFSET);
        sp = expected;
        k--;
    }
    s->pc = pc;
    s->sp = sp;
    s->fp = walk_saved_fp(frames, k, fp_from, fp);
    s->k = k;
    return false;
}

/* The other hot loop: frames that the remembered stack has not, while their rules are at hand and simple, up to
 * and with the first that ends where a remembered one does: true. */
static inline __attribute__((always_inline)) bool walk_build(struct walk *walk, struct step *s)
{
    if (UNLIKELY(s->a > s->k) && !walk_spill(walk, s))
        return false;
    struct frame *const frames = walk->frames;
    struct frame *to = walk->scratch + s->m, *const end = walk->scratch + walk->room;
    uint64_t pc = s->pc, sp = s->sp, fp = s->fp;
    int64_t k = s->k;
    bool is_held = false;
    while (!is_held && to < end) {
        struct rule rule;
        if (UNLIKELY(!rulebook_peek(pc, s->mark, &rule) ||
                     (rule_kind(rule) != RULE_SP && rule_kind(rule) != RULE_FP)))
            break;
        uint64_t cfa = (rule_kind(rule) == RULE_SP ? sp : fp) + (uint64_t)rule_cfa(rule);
        uint64_t fp_at = cfa + (uint64_t)rule_fp(rule);
        if (UNLIKELY(cfa <= sp || cfa > walk->range.hi || (cfa & 7) != 0) ||
            (fp_at != cfa && UNLIKELY(fp_at < sp || fp_at > cfa - 8 || (fp_at & 7) != 0)))
            break;
        while (k >= 0 && frames[k].cfa < cfa)
            k--;
        is_held = k >= 0 && frames[k].cfa == cfa;
        struct frame *f = is_held ? &frames[k] : to++;
        if (is_held && f->pc != pc)
            s->changed = (uint32_t)k;
        /* Word by word: copies would have to wait for what was written in other pieces. */
        f->pc = pc;
        f->cfa = cfa;
        f->rule = rule;
        if (fp_at != cfa)
            fp = *(const uint64_t *)(uintptr_t)fp_at;
        pc = *(const uint64_t *)(uintptr_t)(cfa + (uint64_t)(int64_t)ARCH_RA_OFFSET);
        sp = cfa;
    }
    s->pc = pc;
    s->sp = sp;
    s->fp = fp;
    s->m = (uint32_t)(to - walk->scratch);
    s->a = k;
    s->k = k - is_held;
    return is_held;
}

/* Puts the new stack together; true when it is the remembered one. */
static bool walk_finish(struct walk *walk, struct step *s)
{
    uint32_t held = (uint32_t)(s->a - s->k);
    if (UNLIKELY(s->k >= 0)) { /* the stack ends where the remembered one went on */
        for (uint32_t i = 0; i < held; i++)
            walk->frames[i] = walk->frames[(uint32_t)(s->k + 1) + i];
        s->changed = 0;
    }
    while (UNLIKELY(held + s->m > walk->room)) {
        if (!walk_grow(walk)) {
            walk->cut = CUT_DEPTH;
            s->m = walk->room - held;
        }
    }
    struct frame *to = walk->frames + held;
    for (uint32_t i = s->m; i-- > 0; to++) {
        const struct frame *from = &walk->scratch[i];
        to->pc = from->pc;
        to->cfa = from->cfa;
        to->rule = from->rule;
    }
    bool is_same = s->changed == UINT32_MAX && s->m == 0 && held == walk->n && walk->cut == CUT_NOT;
    walk->n = held + s->m;
    walk->changed = s->changed < held ? s->changed : held;
    return is_same;
}

/* Goes on to the end. */
static inline __attribute__((always_inline)) enum walk_state walk_all(struct lane *lane, struct step *s)
{
    enum walk_state state = WALK_ON;
    do {
        if (s->a > s->k && walk_run(&lane->walk, s))
            return WALK_END;
        if (UNLIKELY(!walk_build(&lane->walk, s)))
            state = walk_frame(lane, s);
    } while (state == WALK_ON);
    return state;
}

/* Is this another stack, or other code, than the remembered frames are of? */
static __attribute__((noinline)) void walk_reset(struct walk *walk, struct step *s, uint64_t generation)
{
    range_settle_doubt(walk);
    if (s->sp - walk->range.lo >= walk->range.hi - walk->range.lo && !range_enter(walk, s->sp))
        walk_forget(walk);
    if (generation != walk->generation) {
        walk->generation = generation;
        walk_forget(walk);
    }
    if (__atomic_load_n(&module_closing, __ATOMIC_RELAXED) != 0) {
        s->mark = ~s->mark; /* what is in the rulebook may be going: nothing of it fits */
        walk_forget(walk);
    }
}

bool walk_take(struct lane *lane, const void *frame)
{
    struct walk *walk = &lane->walk;
    bool is_same;
    unsigned tries = 0;
    uint64_t generation, now = __atomic_load_n(&module_generation, __ATOMIC_ACQUIRE);
    do {
        generation = now;
        struct step s = {
            .pc = arch_return_address(frame),
            .sp = arch_caller_sp(frame),
            .fp = arch_caller_fp(frame),
            .mark = rulebook_mark(generation),
            .changed = UINT32_MAX,
        };
        if (UNLIKELY(s.sp - walk->range.lo >= walk->range.hi - walk->range.lo ||
                     generation != walk->generation ||
                     __atomic_load_n(&module_closing, __ATOMIC_RELAXED) != 0))
            walk_reset(walk, &s, generation);
        walk->cut = CUT_NOT;
        s.a = s.k = (int64_t)walk->n - 1;
        if (LIKELY(walk_all(lane, &s) != WALK_COMPLEX)) {
            is_same = walk_finish(walk, &s);
        } else {
            complete_take(lane, arch_caller_sp(frame));
            is_same = false;
        }
        now = __atomic_load_n(&module_generation, __ATOMIC_ACQUIRE);
        /* Found on the way that code has been replaced.  Where that never ends (others load and
         * unload without a pause) the walk counts as it is, and the next begins anew. */
    } while (UNLIKELY(now != generation) && ++tries < WALK_TRIES_MAX);
    return is_same;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * walk: the call stack of the calling thread, taken by rules, with the last
 * stack of the lane remembered.
 *
 *     frames[0]         outermost, has no caller
 *     frames[n-1]       innermost, the caller of the hook
 *
 * For frame i: pc is the address to which its callee returns, cfa the address
 * above its part of the stack, rule how both its caller's were found, hash the
 * running hash of frames 0..i. cfa falls strictly from 0 to n-1.
 *
 * A walk goes inwards-out over the *remembered* frames: at each, the return
 * address is read from memory. If it is the remembered one the rule is known
 * and nothing is looked up. If it is another, its rule is looked up, and if
 * that gives the remembered cfa the frame is replaced in place. Only where the
 * shape of the stack differs are frames built anew. The remembered cfa, once
 * found right, is what the next load uses, so that the loads do not wait for
 * one another: a frame costs a few cycles, be the stack old or new.
 *
 * Invariants
 *  1. Nothing outside the readable range that contains the stack pointer is read.
 *  2. cfa grows from callee to caller, or the walk is cut.
 *  3. What cannot be stepped over by certain knowledge ends the walk, with the
 *     reason in `cut`; nothing is guessed.
 *
 * Frames that need more than SP and FP (signal frames, odd assembly) are
 * walked by the complete way (complete.c), and nothing is remembered then.
 */
#ifndef HW_PROBE_UNWIND_WALK_H
#define HW_PROBE_UNWIND_WALK_H

#include "probe/inner.h"
#include "probe/unwind/rule.h"
#include "wire/record.h"

#include <stdbool.h>
#include <stdint.h>

struct lane;

struct frame {
    uint64_t pc;
    uint64_t cfa;
    struct rule rule;
    uint64_t hash;
};

enum {
    WALK_RANGES = 4,
    WALK_DEPTH_MAX = 1 << 17, /* frames; beyond it a stack is cut */
    WALK_TRIES_MAX = 16,
    WALK_ENTRY_REACH = 64, /* bytes that the loader's entry pushes and aligns away */
};

/* Readable stack memory around where this thread was seen to run. */
struct range {
    uint64_t lo;
    uint64_t hi;
    bool is_own;      /* part of the thread's own stack, which stays */
    bool is_doubtful; /* a walk on it did not end as it should */
};

struct walk {
    struct frame *frames;
    struct frame *scratch; /* frames built anew, innermost first */
    uint32_t n;
    uint32_t room;    /* frames that fit in each of both arrays */
    uint32_t changed; /* frames from this index inwards have no valid hash */
    uint32_t next_range;
    uint64_t generation; /* of the module table when this was walked */
    enum record_cut cut;
    bool is_complete;     /* walked the complete way: not to be remembered */
    struct range range;   /* the one in use */
    struct range doubted; /* the one in use, until it is asked for again; hi 0 = no doubt */
    struct range ranges[WALK_RANGES];
};

/* Takes the stack above `frame` (frame address of a hook). True: same as
 * remembered. False: walk->frames[0..n) are new from walk->changed inwards. */
bool walk_take(struct lane *lane, const void *frame);

/* Is this the stack pointer of the process's entry, which has no caller? */
bool walk_is_entry(uint64_t sp);

/* Forgets the remembered stack. */
void walk_forget(struct walk *walk);

/* The complete way; fills frames from scratch and remembers nothing (n is set,
 * changed is 0). sp is the hook caller's stack pointer. */
void complete_take(struct lane *lane, uint64_t sp);

/* Is a hook whose caller's stack pointer is `sp` running below us? With 0: is any code of ours, interrupted by a
 * handler? Walks the complete way, writes nothing anywhere. */
enum complete_answer {
    COMPLETE_FOUND,
    COMPLETE_ABSENT,
    COMPLETE_UNKNOWN, /* the stack cannot be followed to its end */
};
enum complete_answer complete_find(uint64_t sp);

/* Room for one more frame; false at the depth limit or without memory. */
bool walk_grow(struct walk *walk);

/* range.c. range_enter makes walk->range the readable range around sp, whose own
 * page must be readable; true: it is the same stack as before. range_extend makes
 * it reach up to `address`; false: there is something that cannot be read. */
bool range_enter(struct walk *walk, uint64_t sp);
bool range_extend(struct walk *walk, uint64_t address);
/* The walk ended at sp, but not in the frame of a function without a caller. */
void range_doubt(struct walk *walk, uint64_t sp);
/* Before the next walk: is what was read then still there? Else forgets it. */
void range_settle_doubt(struct walk *walk);

/* rulebook.c: the rule of a return address, from the cache or compiled now.
 * RULE_NONE with *cut set when there is none. */
struct rule rulebook_find_slow(struct lane *lane, uint64_t pc, enum record_cut *cut);
bool rulebook_init(void);

/* There is no code before pc; is it the first byte of a function? No call returns
 * there: the address was put on a stack made by hand (makecontext), which begins
 * with this frame. */
bool rulebook_is_planted(const struct cfi_section *section, uint64_t pc);

struct rulebook_entry {
    uint64_t key; /* pc ^ rule ^ generation mark: a torn pair fits nothing */
    struct rule rule;
};

enum { RULEBOOK_BITS = 16 }; /* buckets of two entries: 2 MiB */

INNER struct rulebook_entry *rulebook;

static inline uint64_t rulebook_mark(uint64_t generation)
{
    return generation * UINT64_C(0x9e3779b97f4a7c15);
}

/* Return addresses of one function have neighbouring buckets, a few bytes of code to each: a program has some dozen
 * busy functions, and a page of the book for every address would be more than the CPU's first table of pages holds. What
 * lies half a megabyte away is shifted by a number of its own. */
static inline struct rulebook_entry *rulebook_bucket(uint64_t pc)
{
    enum {
        TOP = 64 - RULEBOOK_BITS
    }; /* a bit of pc times 1 << (TOP - n) is n bits lower in the bucket's number */
    const uint64_t near = UINT64_C(1) << (TOP - 3), far = UINT64_C(40501) << (TOP - 19);
    return &rulebook[(pc * (near + far)) >> TOP << 1];
}

/* From the cache alone. */
static inline __attribute__((always_inline)) bool rulebook_peek(uint64_t pc, uint64_t mark, struct rule *rule)
{
    const struct rulebook_entry *e = rulebook_bucket(pc);
    rule->bits = __atomic_load_n(&e[0].rule.bits, __ATOMIC_RELAXED);
    if (__builtin_expect((__atomic_load_n(&e[0].key, __ATOMIC_RELAXED) ^ rule->bits ^ mark) == pc, 1))
        return true;
    rule->bits = __atomic_load_n(&e[1].rule.bits, __ATOMIC_RELAXED);
    return (__atomic_load_n(&e[1].key, __ATOMIC_RELAXED) ^ rule->bits ^ mark) == pc;
}

static inline struct rule rulebook_find(struct lane *lane, uint64_t pc, uint64_t mark, enum record_cut *cut)
{
    struct rule rule;
    return rulebook_peek(pc, mark, &rule) ? rule : rulebook_find_slow(lane, pc, cut);
}

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * jit: see jit.h.
 *
 *     shelf   slots [ owner | start | end | ... ] 0 .. high     one for each FDE
 *             rooms [ CIE FDE 0 ]                 one for each slot, of one size
 *
 * There are two shelves, for short FDEs, which nearly all are, and for long ones.
 * A lookup goes over the slots one after the other. That is slow, but a return
 * address is looked up once and its rule remembered.
 *
 * Life of a slot, told by its owner:
 *
 *     0 (free) --> JIT_BUSY --> owner --> owner | JIT_LEAVING --> 0
 *
 * It is found while `end` is not 0, which is written last of all when it comes
 * and first when it goes.
 *
 * Invariants
 *  1. Whoever finds a slot says so (`used`) and looks whether it is still there,
 *     before he reads of it. Whoever takes it away makes it impossible to find and
 *     looks then whether it was used. So one of them sees the other.
 *  2. Where a slot that was used goes, the module generation advances before the
 *     slot is free. So nobody keeps a rule, or a stack, made of a room's content
 *     after that has changed: he sees that the generation is another.
 */
#include "probe/jit.h"

#include "probe/memory.h"
#include "probe/module.h"

enum { JIT_BUSY = 1 };
#define JIT_LEAVING (UINT64_C(1) << 63)

struct jit_slot {
    uint64_t owner;
    uint64_t start; /* the code */
    uint64_t end;
    intptr_t bias; /* from a byte of the room to the address that the program knows */
    uint32_t fde;
    uint32_t used; /* found at least once since it was last free */
};

struct jit_shelf {
    const uint32_t max, room;
    uint32_t high;          /* slots from here on were never taken */
    uint32_t free;          /* slots below that are free, about */
    struct jit_slot *slots; /* and behind them the rooms */
};

static struct jit_shelf jit_shelves[] = {{.max = 65536, .room = 256}, {.max = 4096, .room = 8192}};

enum { JIT_SHELVES = sizeof jit_shelves / sizeof *jit_shelves };

static struct jit_slot *shelf_slots(struct jit_shelf *s)
{
    return __atomic_load_n(&s->slots, __ATOMIC_ACQUIRE);
}

static uint8_t *shelf_room(const struct jit_shelf *s, const struct jit_slot *slot)
{
    return (uint8_t *)(s->slots + s->max) + (size_t)(slot - s->slots) * s->room;
}

/* How many slots are to be looked at. */
static uint32_t shelf_count(const struct jit_shelf *s)
{
    uint32_t high = __atomic_load_n(&s->high, __ATOMIC_ACQUIRE);
    return high < s->max ? high : s->max;
}

/* The memory of a shelf, when it is first needed. */
static bool shelf_open(struct jit_shelf *s)
{
    struct jit_slot *none = NULL;
    if (shelf_slots(s) != NULL)
        return true;
    size_t size = s->max * (sizeof *s->slots + s->room);
    struct jit_slot *slots = memory_pages(size);
    if (slots != NULL &&
        !__atomic_compare_exchange_n(&s->slots, &none, slots, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        (void)sys_munmap(slots, size); /* another thread was faster */
    return shelf_slots(s) != NULL;
}

static bool slot_turn(struct jit_slot *slot, uint64_t from, uint64_t to)
{
    return __atomic_compare_exchange_n(&slot->owner, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static struct jit_slot *shelf_claim(struct jit_shelf *s)
{
    struct jit_slot *slots = shelf_slots(s);
    if (__atomic_load_n(&s->free, __ATOMIC_RELAXED) != 0) {
        for (uint32_t i = 0, n = shelf_count(s); i < n; i++) {
            if (__atomic_load_n(&slots[i].owner, __ATOMIC_RELAXED) == 0 &&
                slot_turn(&slots[i], 0, JIT_BUSY)) {
                __atomic_fetch_sub(&s->free, 1, __ATOMIC_RELAXED);
                return &slots[i];
            }
        }
        __atomic_store_n(&s->free, 0, __ATOMIC_RELAXED);
    }
    while (shelf_count(s) < s->max) {
        uint32_t i = __atomic_fetch_add(&s->high, 1, __ATOMIC_ACQ_REL);
        if (i < s->max && slot_turn(&slots[i], 0, JIT_BUSY))
            return &slots[i];
    }
    return NULL;
}

bool jit_claim(struct jit_copy *copy, uint64_t length)
{
    for (unsigned i = 0; i < JIT_SHELVES; i++) {
        struct jit_shelf *s = &jit_shelves[i];
        if (length > s->room || !shelf_open(s))
            continue;
        copy->slot = shelf_claim(s);
        if (copy->slot == NULL)
            continue;
        copy->bytes = shelf_room(s, copy->slot);
        copy->room = s->room;
        return true;
    }
    return false;
}

/* After invariant 2. */
static void slot_free(struct jit_slot *slot)
{
    __atomic_store_n(&slot->owner, 0, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < JIT_SHELVES; i++) {
        struct jit_shelf *s = &jit_shelves[i];
        struct jit_slot *slots = shelf_slots(s);
        if (slots != NULL && slot >= slots && slot < slots + s->max)
            __atomic_fetch_add(&s->free, 1, __ATOMIC_RELAXED);
    }
}

void jit_unclaim(const struct jit_copy *copy)
{
    slot_free(copy->slot);
}

void jit_section(const struct jit_copy *copy, struct cfi_section *section)
{
    const uint8_t *fde = copy->bytes + copy->fde;
    *section = (struct cfi_section){.eh_frame = fde,
                                    .lo = copy->bytes,
                                    .hi = copy->bytes + copy->room,
                                    .bias = (intptr_t)(copy->fde_address - (uint64_t)(uintptr_t)fde)};
}

/* Nobody finds it any more. True: somebody has. */
static bool slot_hide(struct jit_slot *slot)
{
    __atomic_store_n(&slot->end, 0, __ATOMIC_SEQ_CST);
    return __atomic_exchange_n(&slot->used, 0, __ATOMIC_SEQ_CST) != 0;
}

/* Other code comes to lie over what was announced before. */
static void jit_displace(uint64_t start, uint64_t end)
{
    for (unsigned i = 0; i < JIT_SHELVES; i++) {
        struct jit_slot *slots = shelf_slots(&jit_shelves[i]);
        for (uint32_t k = 0, n = shelf_count(&jit_shelves[i]); k < n; k++) {
            struct jit_slot *slot = &slots[k];
            uint64_t owner = __atomic_load_n(&slot->owner, __ATOMIC_ACQUIRE);
            if (__atomic_load_n(&slot->start, __ATOMIC_RELAXED) >= end ||
                __atomic_load_n(&slot->end, __ATOMIC_ACQUIRE) <= start || owner <= JIT_BUSY ||
                (owner & JIT_LEAVING) != 0 || !slot_turn(slot, owner, JIT_BUSY))
                continue;
            if (slot_hide(slot))
                module_advance();
            slot_free(slot);
        }
    }
}

void jit_publish(const struct jit_copy *copy, const void *owner, uint64_t start, uint64_t end)
{
    struct jit_slot *slot = copy->slot;
    struct cfi_section section;
    jit_displace(start, end);
    module_displace(start, end);
    jit_section(copy, &section);
    slot->bias = section.bias;
    slot->fde = copy->fde;
    __atomic_store_n(&slot->start, start, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->owner, (uint64_t)(uintptr_t)owner, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->end, end, __ATOMIC_SEQ_CST);
}

void jit_withdraw(const void *owner)
{
    uint64_t here = (uint64_t)(uintptr_t)owner, leaving = here | JIT_LEAVING;
    bool is_used = false, is_found = false;
    for (unsigned i = 0; here > JIT_BUSY && i < JIT_SHELVES; i++) {
        struct jit_slot *slots = shelf_slots(&jit_shelves[i]);
        for (uint32_t k = 0, n = shelf_count(&jit_shelves[i]); k < n; k++) {
            if (__atomic_load_n(&slots[k].owner, __ATOMIC_RELAXED) != here ||
                !slot_turn(&slots[k], here, leaving))
                continue;
            is_found = true;
            is_used |= slot_hide(&slots[k]);
        }
    }
    if (is_used)
        module_advance();
    for (unsigned i = 0; is_found && i < JIT_SHELVES; i++) {
        struct jit_slot *slots = shelf_slots(&jit_shelves[i]);
        for (uint32_t k = 0, n = shelf_count(&jit_shelves[i]); k < n; k++) {
            if (__atomic_load_n(&slots[k].owner, __ATOMIC_RELAXED) == leaving)
                slot_free(&slots[k]);
        }
    }
}

bool jit_find(uint64_t pc, struct cfi_section *section)
{
    for (unsigned i = 0; i < JIT_SHELVES; i++) {
        struct jit_shelf *s = &jit_shelves[i];
        struct jit_slot *slots = shelf_slots(s);
        for (uint32_t k = 0, n = shelf_count(s); k < n; k++) {
            struct jit_slot *slot = &slots[k];
            uint64_t end = __atomic_load_n(&slot->end, __ATOMIC_ACQUIRE);
            uint64_t start = __atomic_load_n(&slot->start, __ATOMIC_RELAXED);
            if (pc < start || pc >= end)
                continue;
            __atomic_store_n(&slot->used, 1, __ATOMIC_SEQ_CST);
            if (__atomic_load_n(&slot->end, __ATOMIC_SEQ_CST) != end ||
                __atomic_load_n(&slot->start, __ATOMIC_RELAXED) != start)
                continue;
            uint8_t *room = shelf_room(s, slot);
            uint32_t fde = slot->fde < s->room ? slot->fde : 0; /* it may be another one's by now */
            *section = (struct cfi_section){
                .eh_frame = room + fde, .lo = room, .hi = room + s->room, .bias = slot->bias};
            return true;
        }
    }
    return false;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * jit: see jit.h.
 *
 *     shelf   owners [ ... ]                      who announced it, one word a slot
 *             slots  [ start | end | ... ]        one for each FDE
 *             rooms  [ CIE FDE 0 ]                one for each slot, of one size
 *             groups [ taken | is_over ]          one for 64 slots
 *
 * There are two shelves, for short FDEs, which nearly all are, and for long ones. A
 * slot is taken in the group that the hash of its code's 16 KiB block gives, or, when
 * that is over (full once), in one of the next few. Code of more than a block is
 * found under JIT_WIDE. So a lookup looks at the groups of a block, of the block
 * before and of JIT_WIDE.
 *
 * A third shelf is the index: its owners' slots are found by their owner, and its
 * rooms hold the number of a slot of the others.
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

enum { JIT_BUSY = 1, JIT_WIDE = 0, JIT_GROUP = 64, JIT_BLOCK_BITS = 14, JIT_INDEX = 65536 + 4096 };
#define JIT_LEAVING (UINT64_C(1) << 63)

struct jit_slot {
    uint64_t start; /* the code */
    uint64_t end;
    intptr_t bias; /* from a byte of the room to the address that the program knows */
    uint32_t fde;
    uint32_t used; /* found at least once since it was last free */
};

struct jit_group {
    uint32_t taken;   /* slots that are not free */
    uint32_t is_over; /* others of its blocks may be in the next group */
};

struct jit_shelf {
    const uint32_t max, room;
    const uint32_t reach; /* groups in which a slot may lie */
    uint64_t *owners;     /* behind them the groups, slots and rooms */
};

static struct jit_shelf jit_shelves[] = {{.max = 65536, .room = 256, .reach = 16},
                                         {.max = 4096, .room = 8192, .reach = 16}};

enum { JIT_SHELVES = sizeof jit_shelves / sizeof *jit_shelves };

/* The number of a slot. */
struct jit_ref {
    uint32_t shelf, slot;
};

static struct jit_shelf jit_index = {
    .max = JIT_INDEX, .room = sizeof(struct jit_ref), .reach = JIT_INDEX / JIT_GROUP};

/* ------------------------------------------------------------------- one shelf */

static uint64_t *shelf_owners(const struct jit_shelf *s)
{
    return __atomic_load_n(&s->owners, __ATOMIC_ACQUIRE);
}

static uint32_t shelf_groups(const struct jit_shelf *s)
{
    return s->max / JIT_GROUP;
}

static struct jit_group *shelf_group(const struct jit_shelf *s, uint32_t group)
{
    return (struct jit_group *)(s->owners + s->max) + group;
}

static struct jit_slot *shelf_slot(const struct jit_shelf *s, uint32_t slot)
{
    return (struct jit_slot *)shelf_group(s, shelf_groups(s)) + slot;
}

static uint8_t *shelf_room(const struct jit_shelf *s, uint32_t slot)
{
    return (uint8_t *)shelf_slot(s, s->max) + (size_t)slot * s->room;
}

/* The memory of a shelf, when it is first needed. */
static bool shelf_open(struct jit_shelf *s)
{
    uint64_t *none = NULL;
    if (shelf_owners(s) != NULL)
        return true;
    size_t size = s->max * (sizeof *s->owners + sizeof(struct jit_slot) + s->room) +
                  shelf_groups(s) * sizeof(struct jit_group);
    uint64_t *owners = memory_pages(size);
    if (owners != NULL &&
        !__atomic_compare_exchange_n(&s->owners, &none, owners, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        memory_give_back(owners, size); /* another thread was faster */
    return shelf_owners(s) != NULL;
}

static bool shelf_turn(struct jit_shelf *s, uint32_t slot, uint64_t from, uint64_t to)
{
    return __atomic_compare_exchange_n(&s->owners[slot], &from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

/* After invariant 2. */
static void meta_decoder_free(struct jit_shelf *s, uint32_t slot)
{
    __atomic_store_n(&s->owners[slot], 0, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&shelf_group(s, slot / JIT_GROUP)->taken, 1, __ATOMIC_RELAXED);
}

static uint32_t shelf_home(const struct jit_shelf *s, uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % shelf_groups(s);
}

/* A free slot for code of this key; s->max: there is none. */
static uint32_t shelf_claim(struct jit_shelf *s, uint64_t key)
{
    uint32_t home = shelf_home(s, key), groups = shelf_groups(s);
    for (uint32_t n = 0; n < s->reach; n++) {
        uint32_t at = (home + n) % groups;
        struct jit_group *group = shelf_group(s, at);
        for (uint32_t slot = at * JIT_GROUP; slot < (at + 1) * JIT_GROUP; slot++) {
            if (__atomic_load_n(&s->owners[slot], __ATOMIC_RELAXED) != 0 || !shelf_turn(s, slot, 0, JIT_BUSY))
                continue;
            __atomic_fetch_add(&group->taken, 1, __ATOMIC_RELEASE);
            return slot;
        }
        __atomic_store_n(&group->is_over, 1, __ATOMIC_RELEASE);
    }
    return s->max;
}

/* Nobody finds it any more. True: somebody has. */
static bool slot_hide(struct jit_slot *slot)
{
    __atomic_store_n(&slot->end, 0, __ATOMIC_SEQ_CST);
    return __atomic_exchange_n(&slot->used, 0, __ATOMIC_SEQ_CST) != 0;
}

/* ------------------------------------------------------------------- the index */

static uint64_t index_key(uint64_t owner)
{
    return owner >> 3;
}

static struct jit_ref *index_ref(uint32_t k)
{
    return (struct jit_ref *)(void *)shelf_room(&jit_index, k);
}

static bool index_add(uint64_t owner, struct jit_ref ref)
{
    uint32_t k = shelf_open(&jit_index) ? shelf_claim(&jit_index, index_key(owner)) : jit_index.max;
    if (k == jit_index.max)
        return false;
    *index_ref(k) = ref;
    __atomic_store_n(&jit_index.owners[k], owner, __ATOMIC_RELEASE);
    return true;
}

/* Calls back for every slot that an owner has in the index; true: its entry goes. */
static void index_visit(uint64_t owner, bool (*visit)(uint64_t owner, struct jit_ref ref, void *of), void *of)
{
    uint32_t home = shelf_home(&jit_index, index_key(owner)), groups = shelf_groups(&jit_index);
    for (uint32_t n = 0; shelf_owners(&jit_index) != NULL && n < jit_index.reach; n++) {
        uint32_t at = (home + n) % groups;
        const struct jit_group *group = shelf_group(&jit_index, at);
        bool is_empty = __atomic_load_n(&group->taken, __ATOMIC_ACQUIRE) == 0;
        for (uint32_t k = at * JIT_GROUP; !is_empty && k < (at + 1) * JIT_GROUP; k++) {
            if (__atomic_load_n(&jit_index.owners[k], __ATOMIC_ACQUIRE) == owner &&
                visit(owner, *index_ref(k), of))
                meta_decoder_free(&jit_index, k);
        }
        if (__atomic_load_n(&group->is_over, __ATOMIC_ACQUIRE) == 0)
            return;
    }
}

static bool index_is_this(uint64_t owner, struct jit_ref ref, void *of)
{
    const struct jit_ref *this = of;
    (void)owner;
    return ref.shelf == this->shelf && ref.slot == this->slot;
}

/* ---------------------------------------------------------------------- coming */

static uint64_t jit_block(uint64_t address)
{
    return address >> JIT_BLOCK_BITS;
}

static uint64_t jit_key(uint64_t start, uint64_t end)
{
    return end - start > UINT64_C(1) << JIT_BLOCK_BITS ? JIT_WIDE : jit_block(start);
}

static bool jit_claim_for(struct jit_copy *copy, uint64_t length, uint64_t key)
{
    for (unsigned i = 0; i < JIT_SHELVES; i++) {
        struct jit_shelf *s = &jit_shelves[i];
        if (length > s->room || !shelf_open(s))
            continue;
        copy->shelf = i;
        copy->slot = shelf_claim(s, key);
        copy->bytes = shelf_room(s, copy->slot);
        copy->room = s->room;
        if (copy->slot < s->max)
            return true;
    }
    return false;
}

bool jit_claim(struct jit_copy *copy, uint64_t length)
{
    copy->length = length;
    return jit_claim_for(copy, length, JIT_WIDE);
}

void jit_unclaim(const struct jit_copy *copy)
{
    meta_decoder_free(&jit_shelves[copy->shelf], copy->slot);
}

void jit_section(const struct jit_copy *copy, struct cfi_section *section)
{
    const uint8_t *fde = copy->bytes + copy->fde;
    *section = (struct cfi_section){.eh_frame = fde,
                                    .lo = copy->bytes,
                                    .hi = copy->bytes + copy->room,
                                    .bias = (intptr_t)(copy->fde_address - (uint64_t)(uintptr_t)fde)};
}

/* Takes away what was announced before in a group, and lies in [start, end). */
static void jit_displace_in(struct jit_shelf *s, uint32_t group, uint64_t start, uint64_t end)
{
    if (__atomic_load_n(&shelf_group(s, group)->taken, __ATOMIC_ACQUIRE) == 0)
        return;
    for (uint32_t k = group * JIT_GROUP; k < (group + 1) * JIT_GROUP; k++) {
        struct jit_slot *slot = shelf_slot(s, k);
        uint64_t owner = __atomic_load_n(&s->owners[k], __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&slot->start, __ATOMIC_RELAXED) >= end ||
            __atomic_load_n(&slot->end, __ATOMIC_ACQUIRE) <= start || owner <= JIT_BUSY ||
            (owner & JIT_LEAVING) != 0 || !shelf_turn(s, k, owner, JIT_BUSY))
            continue;
        if (slot_hide(slot))
            module_advance();
        index_visit(owner, index_is_this, &(struct jit_ref){(uint32_t)(s - jit_shelves), k});
        meta_decoder_free(s, k);
    }
}

static void jit_displace_key(struct jit_shelf *s, uint64_t key, uint64_t start, uint64_t end)
{
    uint32_t home = shelf_home(s, key), groups = shelf_groups(s);
    for (uint32_t n = 0; n < s->reach; n++) {
        jit_displace_in(s, (home + n) % groups, start, end);
        if (__atomic_load_n(&shelf_group(s, (home + n) % groups)->is_over, __ATOMIC_ACQUIRE) == 0)
            return;
    }
}

/* Other code comes to lie over what was announced before. */
static void jit_displace(uint64_t start, uint64_t end)
{
    uint64_t first = jit_block(start) - 1, last = jit_block(end - 1);
    for (unsigned i = 0; i < JIT_SHELVES; i++) {
        struct jit_shelf *s = &jit_shelves[i];
        if (shelf_owners(s) == NULL)
            continue;
        if (last - first > shelf_groups(s)) {
            for (uint32_t group = 0; group < shelf_groups(s); group++)
                jit_displace_in(s, group, start, end);
            continue;
        }
        jit_displace_key(s, JIT_WIDE, start, end);
        for (uint64_t block = first; block - first <= last - first; block++)
            jit_displace_key(s, block, start, end);
    }
}

bool jit_publish(const struct jit_copy *copy, const void *owner, uint64_t start, uint64_t end)
{
    struct jit_copy own = *copy;
    struct cfi_section section;
    if (!jit_claim_for(&own, copy->length, jit_key(start, end)))
        return false;
    if (!index_add((uint64_t)(uintptr_t)owner, (struct jit_ref){own.shelf, own.slot})) {
        jit_unclaim(&own);
        return false;
    }
    memory_copy(own.bytes, copy->bytes, copy->length);
    jit_displace(start, end);
    module_displace(start, end);
    struct jit_shelf *s = &jit_shelves[own.shelf];
    struct jit_slot *slot = shelf_slot(s, own.slot);
    jit_section(&own, &section);
    slot->bias = section.bias;
    slot->fde = own.fde;
    __atomic_store_n(&slot->start, start, __ATOMIC_RELEASE);
    __atomic_store_n(&s->owners[own.slot], (uint64_t)(uintptr_t)owner, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->end, end, __ATOMIC_SEQ_CST);
    return true;
}

/* ----------------------------------------------------------------------- going */

static bool jit_leave(uint64_t owner, struct jit_ref ref, void *of)
{
    struct jit_shelf *s = &jit_shelves[ref.shelf];
    bool *is_used = of;
    if (shelf_turn(s, ref.slot, owner, owner | JIT_LEAVING))
        *is_used |= slot_hide(shelf_slot(s, ref.slot));
    return false;
}

static bool jit_left(uint64_t owner, struct jit_ref ref, void *of)
{
    struct jit_shelf *s = &jit_shelves[ref.shelf];
    (void)of;
    if (shelf_turn(s, ref.slot, owner | JIT_LEAVING, JIT_BUSY))
        meta_decoder_free(s, ref.slot);
    return true;
}

void jit_withdraw(const void *owner)
{
    uint64_t here = (uint64_t)(uintptr_t)owner;
    bool is_used = false;
    if (here <= JIT_BUSY)
        return;
    index_visit(here, jit_leave, &is_used);
    if (is_used)
        module_advance();
    index_visit(here, jit_left, NULL);
}

/* --------------------------------------------------------------------- finding */

static bool jit_find_in(struct jit_shelf *s, uint32_t group, uint64_t pc, struct cfi_section *section)
{
    for (uint32_t k = group * JIT_GROUP; k < (group + 1) * JIT_GROUP; k++) {
        struct jit_slot *slot = shelf_slot(s, k);
        uint64_t end = __atomic_load_n(&slot->end, __ATOMIC_ACQUIRE);
        uint64_t start = __atomic_load_n(&slot->start, __ATOMIC_RELAXED);
        if (pc < start || pc >= end)
            continue;
        __atomic_store_n(&slot->used, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&slot->end, __ATOMIC_SEQ_CST) != end ||
            __atomic_load_n(&slot->start, __ATOMIC_RELAXED) != start)
            continue;
        uint8_t *room = shelf_room(s, k);
        uint32_t fde = slot->fde < s->room ? slot->fde : 0; /* it may be another one's by now */
        *section = (struct cfi_section){
            .eh_frame = room + fde, .lo = room, .hi = room + s->room, .bias = slot->bias};
        return true;
    }
    return false;
}

static bool jit_find_key(struct jit_shelf *s, uint64_t key, uint64_t pc, struct cfi_section *section)
{
    uint32_t home = shelf_home(s, key), groups = shelf_groups(s);
    for (uint32_t n = 0; n < s->reach; n++) {
        const struct jit_group *group = shelf_group(s, (home + n) % groups);
        if (__atomic_load_n(&group->taken, __ATOMIC_ACQUIRE) != 0 &&
            jit_find_in(s, (home + n) % groups, pc, section))
            return true;
        if (__atomic_load_n(&group->is_over, __ATOMIC_ACQUIRE) == 0)
            return false;
    }
    return false;
}

bool jit_find(uint64_t pc, struct cfi_section *section)
{
    for (unsigned i = 0; i < JIT_SHELVES; i++) {
        struct jit_shelf *s = &jit_shelves[i];
        if (shelf_owners(s) != NULL &&
            (jit_find_key(s, jit_block(pc), pc, section) || jit_find_key(s, jit_block(pc) - 1, pc, section) ||
             jit_find_key(s, JIT_WIDE, pc, section)))
            return true;
    }
    return false;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * jit_read: from what a program announces to copies of its FDEs.
 *
 *     announced:   CIE  FDE  FDE  CIE  FDE  0        (unwind/cfi_entry.c draws them)
 *     copied:      CIE FDE 0     each FDE with its CIE, which it names anew
 *
 * Nothing of the program's is decoded in place. The bytes of a record are asked for
 * page by page (sys_is_readable) before they are copied, and all that is said of
 * them is said of the copy. Lengths and distances are believed as far as all bytes in
 * between can be read, and no further than JIT_REACH.
 *
 * Not learnt: FDEs of code that a module has unwind data for (programs of old
 * announce their own .eh_frame when they start); FDEs that do not say where the
 * frame ends (LuaJIT's, which are there for their personality alone); what cannot be
 * decoded. All of it where no system calls are to be made.
 */
#include "base/cursor.h"
#include "probe/jit.h"
#include "probe/life.h"
#include "probe/memory.h"
#include "probe/module.h"
#include "probe/real.h"
#include "probe/unwind/cfi_entry.h"

enum {
    JIT_PAGE = 4096,
    JIT_RECORDS_MAX = 1 << 20,
    JIT_REACH = 1 << 24, /* bytes of a record, and from an FDE back to its CIE */
    JIT_END = 4,
};

struct jit_read {
    const void *owner;
    const void *sequence;
    uint64_t lo, hi; /* pages that can be read */
};

struct jit_record {
    uint64_t at;
    uint64_t size; /* with its length */
    uint64_t id_at;
    uint32_t id;
};

static bool read_can(struct jit_read *r, uint64_t at, uint64_t length)
{
    uint64_t end;
    if (at < JIT_PAGE || __builtin_add_overflow(at, length, &end)) /* the kernel takes NULL for no address */
        return false;
    if (at >= r->lo && end <= r->hi)
        return true;
    uint64_t first = at & ~(uint64_t)(JIT_PAGE - 1), page = first;
    for (; page < end && page >= first; page += JIT_PAGE) {
        if ((page < r->lo || page >= r->hi) && !sys_is_readable(page))
            return false;
    }
    if (first > r->hi || page < r->lo)
        r->lo = r->hi = first;
    r->lo = first < r->lo ? first : r->lo;
    r->hi = page > r->hi ? page : r->hi;
    return true;
}

static uint64_t read_word(uint64_t at, unsigned width)
{
    struct cursor in;
    cursor_init(&in, (const void *)(uintptr_t)at, width);
    return cursor_le(&in, width);
}

/* False: the terminator, or none. */
static bool read_record(struct jit_read *r, uint64_t at, struct jit_record *record)
{
    unsigned head = 4;
    if (!read_can(r, at, head))
        return false;
    uint64_t length = read_word(at, 4);
    if (length == UINT32_MAX) {
        head = 12;
        if (!read_can(r, at, head))
            return false;
        length = read_word(at + 4, 8);
    }
    if (length < sizeof record->id || length > JIT_REACH || !read_can(r, at + head, length))
        return false;
    record->at = at;
    record->size = head + length;
    record->id_at = at + head;
    record->id = (uint32_t)read_word(at + head, 4);
    return true;
}

/* Has the module around this code unwind data for it? is_own: and is that what is announced? */
static bool read_is_known(const struct jit_read *r, uint64_t start, bool *is_own)
{
    struct module_object o;
    *is_own = false;
    if (real.dl_find_object((void *)(uintptr_t)start, &o) != 0 || o.eh_frame == NULL)
        return false;
    *is_own = r->sequence >= (const void *)o.map_start && r->sequence < (const void *)o.map_end;
    return true;
}

/* Copies the two; false where there is no room. */
static bool read_copy(const struct jit_record *cie, const struct jit_record *fde, struct jit_copy *copy)
{
    uint64_t length = cie->size + fde->size + JIT_END;
    uint32_t id = (uint32_t)(cie->size + (fde->id_at - fde->at));
    if (!jit_claim(copy, length))
        return false;
    memory_copy(copy->bytes, (const void *)(uintptr_t)cie->at, cie->size);
    memory_copy(copy->bytes + cie->size, (const void *)(uintptr_t)fde->at, fde->size);
    memory_copy(copy->bytes + id, &id, sizeof id);
    memory_zero(copy->bytes + cie->size + fde->size, JIT_END);
    copy->fde = (uint32_t)cie->size;
    copy->fde_address = fde->at;
    return true;
}

/* False: there is nothing to be learnt from what follows either. */
static bool read_learn(struct jit_read *r, const struct jit_record *fde)
{
    struct jit_record cie;
    struct jit_copy copy;
    struct cfi_section section;
    struct cfi_row row;
    struct cfi_entry entry;
    uint64_t next;
    bool is_own = false;
    if (fde->id > JIT_REACH || !read_can(r, fde->id_at - fde->id, fde->id) ||
        !read_record(r, fde->id_at - fde->id, &cie) || cie.id != 0 || !read_copy(&cie, fde, &copy))
        return true;
    jit_section(&copy, &section);
    if (cfi_entry_decode(&section, copy.fde_address, &entry, &next) == CFI_OK && entry.start < entry.end &&
        !read_is_known(r, entry.start, &is_own) && cfi_find_row(&section, entry.start, &row) == CFI_OK)
        (void)jit_publish(&copy, r->owner, entry.start, entry.end);
    jit_unclaim(&copy);
    return !is_own;
}

static bool read_is_wanted(void)
{
    return !life_sandbox && real.dl_find_object != NULL &&
           __atomic_load_n(&life.state, __ATOMIC_ACQUIRE) != LIFE_OFF;
}

static void read_sequence(const void *owner, const void *sequence)
{
    struct jit_read r = {.owner = owner, .sequence = sequence};
    struct jit_record record;
    uint64_t at = (uint64_t)(uintptr_t)sequence;
    for (unsigned n = 0; n < JIT_RECORDS_MAX && read_record(&r, at, &record); n++) {
        if (record.id != 0 && !read_learn(&r, &record))
            return;
        at += record.size;
    }
}

void jit_announce(const void *owner, const void *sequence)
{
    if (!read_is_wanted())
        return;
    jit_withdraw(owner);
    read_sequence(owner, sequence);
}

void jit_announce_list(const void *list)
{
    struct jit_read r = {0};
    uint64_t at = (uint64_t)(uintptr_t)list;
    if (!read_is_wanted())
        return;
    jit_withdraw(list);
    for (unsigned n = 0; n < JIT_RECORDS_MAX && read_can(&r, at, sizeof at); n++, at += sizeof at) {
        uint64_t sequence = read_word(at, sizeof at);
        if (sequence == 0)
            return;
        read_sequence(list, (const void *)(uintptr_t)sequence);
    }
}

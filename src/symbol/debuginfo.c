/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * debuginfo: see debuginfo.h.
 *
 * Where the units are is taken from the units themselves rather than from
 * .debug_aranges, which clang does not write: reading the first entry of each
 * unit takes milliseconds.
 */
#include "symbol/debuginfo.h"

#include "tool/memory.h"

#include <stdlib.h>

_Thread_local jmp_buf debuginfo_no_memory;

static __attribute__((noreturn)) void debuginfo_give_up(void)
{
    longjmp(debuginfo_no_memory, 1);
}

enum {
    DEBUGINFO_RESERVE = 4 << 20, /* bytes that libdw finds free whenever it is asked, and */
    DEBUGINFO_SHARE = 8,         /* ... one such part of the file */
    DEBUGINFO_HALVES =
        64 << 20, /* bytes of open halves besides the one in use; beyond that they are closed */
};

/* Where memory runs out libdw passes over sections as if they were not there, ends the program or
 * follows a null pointer.  So it is not asked for anything that it might have no memory for. */
static void debuginfo_reserve(uint64_t bytes)
{
    void *room = bytes < SIZE_MAX ? memory_new((size_t)bytes) : NULL;
    if (room == NULL)
        debuginfo_give_up();
    free(room);
}

static void debuginfo_add_units(struct debuginfo *d)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    uint8_t type;
    while (d->limits.steps > 0 && dwarf_get_units(d->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
        struct unit u;
        size_t index = d->units.count;
        d->limits.steps--;
        debuginfo_reserve(d->reserve);
        if (type != DW_UT_compile && type != DW_UT_skeleton)
            continue;
        d->is_split = d->is_split || type == DW_UT_skeleton;
        unit_init(&u, &die, &d->halves);
        if (index >= SPAN_NONE || !vec_push(&d->units, u))
            return;
        u.says_where = die_add_ranges(&d->limits, &die, &d->spans, (uint32_t)index);
        d->units.data[index].says_where = u.says_where;
    }
}

/* Bytes of .debug_ sections that are packed, once they are unpacked. */
static uint64_t debuginfo_unpacked(const struct elffile *file)
{
    uint64_t sum = 0;
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(file->elf, section)) != NULL) {
        GElf_Chdr packed;
        if (gelf_getchdr(section, &packed) != NULL && packed.ch_size < UINT64_MAX - sum)
            sum += packed.ch_size;
    }
    return sum;
}

static Dwarf *debuginfo_begin(struct debuginfo *d, const struct elffile *file, uint64_t *size)
{
    uint64_t unpacked = debuginfo_unpacked(file);
    d->reserve += (file->size + unpacked) / DEBUGINFO_SHARE;
    debuginfo_reserve(unpacked + d->reserve);
    *size += file->size + unpacked;
    Dwarf *dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
    if (dwarf != NULL)
        (void)dwarf_new_oom_handler(dwarf, debuginfo_give_up);
    return dwarf;
}

bool debuginfo_open(struct debuginfo *d, const struct elffile *file, const struct elffile *text,
                    struct locate *l)
{
    *d = (struct debuginfo){.reserve = DEBUGINFO_RESERVE,
                            .halves = {.program = file, .no_memory = debuginfo_give_up}};
    uint64_t size = 0;
    d->dwarf = debuginfo_begin(d, file, &size);
    if (d->dwarf == NULL)
        return false;
    if (locate_shared(l, file, d->dwarf, &d->shared_file)) {
        d->shared = debuginfo_begin(d, &d->shared_file, &size);
        if (d->shared != NULL)
            dwarf_setalt(d->dwarf, d->shared);
    }
    die_limits_init(&d->limits, size);
    if (text->text_low < text->text_high) {
        d->limits.text_low = text->text_low;
        d->limits.text_high = text->text_high;
    }
    debuginfo_add_units(d);
    spans_seal(&d->spans);
    return true;
}

void debuginfo_abandon(struct debuginfo *d)
{
    d->dwarf = d->shared = NULL;
    for (size_t i = 0; i < d->units.count; i++)
        d->units.data[i].half = (struct half){0};
    debuginfo_close(d);
}

void debuginfo_close(struct debuginfo *d)
{
    for (size_t i = 0; i < d->units.count; i++)
        unit_release(&d->units.data[i]);
    vec_release(&d->units);
    spans_release(&d->spans);
    if (d->dwarf != NULL)
        dwarf_end(d->dwarf);
    if (d->shared != NULL)
        dwarf_end(d->shared);
    elffile_close(&d->shared_file);
    package_close(&d->halves.package);
    *d = (struct debuginfo){0};
}

bool debuginfo_take_package(struct debuginfo *d, struct package *package)
{
    for (size_t i = 0; i < d->units.count; i++) {
        uint64_t id;
        if (half_get_id(&d->units.data[i].die, &id) && package_has(package, id)) {
            d->halves.package = *package;
            return true;
        }
    }
    package_close(package);
    return false;
}

/* Keeps the halves within bounds.  Addresses are mostly asked for in order, so those that are not the last
 * will not be missed. */
static void debuginfo_trim(struct debuginfo *d, const struct unit *last)
{
    uint64_t needed = last != NULL ? last->half.bytes : 0;
    if (d->halves.bytes - needed <= DEBUGINFO_HALVES)
        return;
    for (size_t i = 0; i < d->units.count; i++)
        if (&d->units.data[i] != last && d->units.data[i].half.dwarf != NULL)
            unit_forget(&d->units.data[i]);
    d->generation++;
}

/* Some producers give a unit no addresses.  Its functions have them. */
static void debuginfo_complete(struct debuginfo *d)
{
    d->is_complete = true;
    for (size_t i = 0; i < d->units.count; i++) {
        struct unit *u = &d->units.data[i];
        if (u->says_where)
            continue;
        debuginfo_reserve(d->reserve);
        unit_read(u, &d->limits);
        for (size_t j = 0; j < u->spans.list.count; j++)
            (void)spans_add(&d->spans, u->spans.list.data[j].low, u->spans.list.data[j].high, (uint32_t)i);
        debuginfo_trim(d, NULL);
    }
    spans_seal(&d->spans);
}

struct unit *debuginfo_find(struct debuginfo *d, uint64_t address, Dwarf_Die *dies, size_t room,
                            size_t *count)
{
    *count = 0;
    debuginfo_reserve(d->reserve);
    uint32_t index = spans_find(&d->spans, address);
    if (index == SPAN_NONE && !d->is_complete) {
        debuginfo_complete(d);
        index = spans_find(&d->spans, address);
    }
    if (index == SPAN_NONE)
        return NULL;
    struct unit *u = &d->units.data[index];
    struct function *f = unit_find(u, &d->limits, address);
    debuginfo_trim(d, u);
    if (f != NULL)
        *count = function_find(f, &d->limits, address, dies, room);
    return u;
}

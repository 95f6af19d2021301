/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cfi_table: the search table of .eh_frame_hdr.
 *
 *     u8 version (1)
 *     u8 encoding of eh_frame_ptr    u8 encoding of count    u8 encoding of table
 *     eh_frame_ptr, count, then count pairs (start of a function, its FDE),
 *     sorted by start; commonly four bytes each, relative to .eh_frame_hdr
 *
 * Where there is no table (no .eh_frame_hdr at all, the linker gave up on it, or its
 * encoding has no fixed width) the records of .eh_frame are looked at one after the other up to the
 * terminator. That is slow, but a pc is looked up once and then remembered.
 *
 * An FDE whose function is not in the table is not found, just as the program's
 * own exceptions would not find it.
 */
#include "probe/unwind/cfi_table.h"

#include "probe/unwind/cfi_opcode.h"
#include "probe/unwind/cfi_pointer.h"

struct table {
    const struct cfi_section *section;
    const uint8_t *fields;
    uint64_t count; /* of pairs */
    uint64_t eh_frame;
    unsigned width; /* of a field; 0: there is no table */
    uint8_t encoding;
};

static enum cfi_status table_open(const struct cfi_section *section, struct table *t)
{
    struct cursor in;
    t->section = section;
    t->width = 0;
    if (section->hdr == NULL) {
        if (section->eh_frame == NULL)
            return CFI_ABSENT;
        t->eh_frame = cfi_pointer_address(section, section->eh_frame);
        return CFI_OK;
    }
    bool is_elsewhere = section->hdr < section->lo || section->hdr > section->hi;
    size_t room = (size_t)(section->hi - section->hdr);
    cursor_init(&in, section->hdr, is_elsewhere || room > section->hdr_size ? section->hdr_size : room);
    uint8_t version = cursor_u8(&in);
    uint8_t frame_encoding = cursor_u8(&in);
    uint8_t count_encoding = cursor_u8(&in);
    t->encoding = cursor_u8(&in);
    if (cursor_is_bad(&in))
        return CFI_BAD;
    if (version != 1 || !cfi_pointer_read(section, &in, frame_encoding, &t->eh_frame))
        return CFI_UNSUPPORTED;
    if (cursor_is_bad(&in))
        return CFI_BAD;
    if (count_encoding == DW_EH_PE_omit || t->encoding == DW_EH_PE_omit)
        return CFI_OK;

    unsigned width = cfi_pointer_width(t->encoding);
    if (width == 0 || !cfi_pointer_read(section, &in, count_encoding, &t->count))
        return CFI_OK;
    if (cursor_is_bad(&in) || t->count > cursor_left(&in) / (2 * width))
        return CFI_BAD;
    t->fields = in.at;
    t->width = width;
    return CFI_OK;
}

static bool table_get(const struct table *t, uint64_t field, uint64_t *value)
{
    struct cursor in;
    cursor_init(&in, t->fields + field * t->width, t->width);
    return cfi_pointer_read(t->section, &in, t->encoding, value);
}

static bool entry_covers(const struct cfi_entry *entry, uint64_t pc)
{
    return entry->start <= pc && pc < entry->end;
}

/* The last pair whose start is not above pc. */
static enum cfi_status table_search(const struct table *t, uint64_t pc, struct cfi_entry *entry)
{
    uint64_t from = 0;
    uint64_t to = t->count;
    uint64_t address;
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        if (!table_get(t, 2 * middle, &address))
            return CFI_UNSUPPORTED;
        if (address <= pc)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == 0)
        return CFI_ABSENT;
    uint64_t next;
    (void)table_get(t, 2 * from - 1, &address);
    enum cfi_status status = cfi_entry_decode(t->section, address, entry, &next);
    if (status == CFI_ABSENT)
        return CFI_BAD;
    if (status == CFI_OK && !entry_covers(entry, pc))
        return CFI_ABSENT;
    return status;
}

static enum cfi_status table_scan(const struct table *t, uint64_t pc, struct cfi_entry *entry)
{
    uint64_t address = t->eh_frame;
    for (;;) {
        uint64_t next;
        enum cfi_status status = cfi_entry_decode(t->section, address, entry, &next);
        if (status == CFI_OK && entry_covers(entry, pc))
            return CFI_OK;
        if (next == 0)
            return status;
        address = next;
    }
}

enum cfi_status cfi_table_find(const struct cfi_section *section, uint64_t pc, struct cfi_entry *entry)
{
    struct table t;
    enum cfi_status status = table_open(section, &t);
    if (status != CFI_OK)
        return status;
    return t.width != 0 ? table_search(&t, pc, entry) : table_scan(&t, pc, entry);
}

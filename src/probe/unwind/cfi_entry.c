/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cfi_entry: the records of .eh_frame.
 *
 *     every record   length u32 (or ffffffff, then length u64)   0 ends the section
 *                    id u32     0: a CIE; else an FDE, whose CIE begins at
 *                               (address of this field) - id
 *     CIE, then      version u8 (1 or 3), augmentation string, code_align uleb,
 *                    data_align sleb, return address column (v1 u8, v3 uleb),
 *                    with 'z': length uleb and augmentation data, instructions
 *     FDE, then      start encoded by 'R', size in the same format,
 *                    with 'z': length uleb and augmentation data, instructions
 *
 * Letters after 'z': R encoding of addresses, P personality, L encoding of the
 * LSDA pointer, S signal frame, B a key of aarch64 without data. An unknown letter
 * ends the reading of letters, since the length says where instructions begin;
 * but not when an R comes after it, for then no address could be decoded.
 *
 * Refused: other versions, letters without 'z', a return address in another
 * column than the ABI's.
 */
#include "probe/unwind/cfi_entry.h"

#include "probe/unwind/cfi_opcode.h"
#include "probe/unwind/cfi_pointer.h"

struct record {
    uint64_t id_address;
    uint64_t next;
    uint32_t id;
};

/* Leaves body at what follows the id. */
static enum cfi_status record_open(const struct cfi_section *section, uint64_t address, struct record *r,
                                   struct cursor *body)
{
    if (!cfi_pointer_open(section, address, body))
        return CFI_BAD;
    uint64_t length = cursor_u32(body);
    if (length == UINT32_MAX)
        length = cursor_u64(body);
    if (cursor_is_bad(body))
        return CFI_BAD;
    if (length == 0)
        return CFI_ABSENT;
    if (length < sizeof(r->id) || length > cursor_left(body))
        return CFI_BAD;
    cursor_init(body, body->at, length);
    r->id_address = cfi_pointer_address(section, body->at);
    r->next = r->id_address + length;
    r->id = cursor_u32(body);
    return CFI_OK;
}

static bool has_letter(const char *letters, char wanted)
{
    while (*letters != '\0' && *letters != wanted)
        letters++;
    return *letters == wanted;
}

/* Only the size of the personality matters, so what it is relative to is dropped. */
static bool personality_skip(const struct cfi_section *section, struct cursor *data)
{
    uint64_t ignored;
    uint8_t encoding = cursor_u8(data);
    return (encoding & DW_EH_PE_base) != DW_EH_PE_aligned &&
           cfi_pointer_read(section, data, encoding & DW_EH_PE_format, &ignored);
}

/* Reads augmentation data by the letters after 'z'. */
static enum cfi_status augmentation_decode(const struct cfi_section *section, const char *letters,
                                           struct cursor *data, struct cfi_entry *entry)
{
    for (bool is_known = true; is_known && *letters != '\0'; letters++) {
        switch (*letters) {
        case 'R':
            entry->encoding = cursor_u8(data);
            break;
        case 'P':
            if (!personality_skip(section, data))
                return CFI_UNSUPPORTED;
            break;
        case 'L':
            cursor_skip(data, 1);
            break;
        case 'S':
            entry->is_signal_frame = true;
            break;
        case 'B':
            break;
        default:
            if (has_letter(letters, 'R'))
                return CFI_UNSUPPORTED;
            is_known = false;
        }
    }
    return cursor_is_bad(data) ? CFI_BAD : CFI_OK;
}

/* Cuts augmentation data, length first, off the front of in. */
static void augmentation_take(struct cursor *in, struct cursor *data)
{
    size_t length = cursor_uleb(in);
    cursor_init(data, in->at, length <= cursor_left(in) ? length : 0);
    cursor_skip(in, length);
}

static enum cfi_status cie_decode(const struct cfi_section *section, struct cursor *in,
                                  struct cfi_entry *entry)
{
    uint8_t version = cursor_u8(in);
    const char *letters = cursor_string(in);
    entry->code_align = cursor_uleb(in);
    entry->data_align = cursor_sleb(in);
    uint64_t ra_column = version == 1 ? cursor_u8(in) : cursor_uleb(in);
    if (cursor_is_bad(in))
        return CFI_BAD;
    if ((version != 1 && version != 3) || ra_column != ARCH_COLUMN_RA)
        return CFI_UNSUPPORTED;

    entry->encoding = DW_EH_PE_absptr;
    entry->is_signal_frame = false;
    entry->has_lengths = letters[0] == 'z';
    if (!entry->has_lengths)
        return letters[0] == '\0' ? CFI_OK : CFI_UNSUPPORTED;
    struct cursor data;
    augmentation_take(in, &data);
    if (cursor_is_bad(in))
        return CFI_BAD;
    return augmentation_decode(section, letters + 1, &data, entry);
}

static enum cfi_status fde_decode(const struct cfi_section *section, struct cursor *in,
                                  struct cfi_entry *entry)
{
    uint64_t size;
    if ((entry->encoding & DW_EH_PE_base) == DW_EH_PE_datarel ||
        !cfi_pointer_read(section, in, entry->encoding, &entry->start) ||
        !cfi_pointer_read(section, in, entry->encoding & DW_EH_PE_format, &size))
        return CFI_UNSUPPORTED;
    if (entry->has_lengths)
        cursor_skip(in, cursor_uleb(in));
    if (cursor_is_bad(in) || __builtin_add_overflow(entry->start, size, &entry->end))
        return CFI_BAD;
    return CFI_OK;
}

enum cfi_status cfi_entry_decode(const struct cfi_section *section, uint64_t address, struct cfi_entry *entry,
                                 uint64_t *next)
{
    struct record r;
    *next = 0;
    enum cfi_status status = record_open(section, address, &r, &entry->program);
    if (status != CFI_OK)
        return status;
    *next = r.next;
    if (r.id == 0)
        return CFI_UNSUPPORTED;
    if (record_open(section, r.id_address - r.id, &r, &entry->initial) != CFI_OK || r.id != 0)
        return CFI_BAD;
    status = cie_decode(section, &entry->initial, entry);
    if (status != CFI_OK)
        return status;
    return fde_decode(section, &entry->program, entry);
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cfi_pointer: see the header. Two kinds of "where" meet here and nowhere else:
 * a pointer is where we read, an address is where the program sees it. They
 * differ by the section's bias, and all arithmetic is done on addresses, so that
 * no pointer ever leaves [lo, hi].
 */
#include "probe/unwind/cfi_pointer.h"

#include "probe/unwind/cfi_opcode.h"

bool cfi_pointer_open(const struct cfi_section *section, uint64_t address, struct cursor *in)
{
    uint64_t lo = cfi_pointer_address(section, section->lo);
    uint64_t size = (uint64_t)(section->hi - section->lo);
    if (address - lo >= size)
        return false;
    cursor_init(in, section->lo + (address - lo), size - (address - lo));
    return true;
}

unsigned cfi_pointer_width(uint8_t encoding)
{
    switch (encoding & DW_EH_PE_format) {
    case DW_EH_PE_udata2:
    case DW_EH_PE_sdata2:
        return 2;
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
        return 4;
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return 8;
    default:
        return 0;
    }
}

static bool pointer_format(struct cursor *in, uint8_t encoding, uint64_t *value)
{
    switch (encoding & DW_EH_PE_format) {
    case DW_EH_PE_uleb128:
        *value = cursor_uleb(in);
        return true;
    case DW_EH_PE_sleb128:
        *value = (uint64_t)cursor_sleb(in);
        return true;
    case DW_EH_PE_udata2:
        *value = cursor_u16(in);
        return true;
    case DW_EH_PE_sdata2:
        *value = (uint64_t)(int16_t)cursor_u16(in);
        return true;
    case DW_EH_PE_udata4:
        *value = cursor_u32(in);
        return true;
    case DW_EH_PE_sdata4:
        *value = (uint64_t)(int32_t)cursor_u32(in);
        return true;
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        *value = cursor_u64(in);
        return true;
    default:
        return false;
    }
}

bool cfi_pointer_read(const struct cfi_section *section, struct cursor *in, uint8_t encoding, uint64_t *value)
{
    uint64_t base;
    switch (encoding & (DW_EH_PE_base | DW_EH_PE_indirect)) {
    case DW_EH_PE_absptr:
        base = 0;
        break;
    case DW_EH_PE_pcrel:
        base = cfi_pointer_address(section, in->at);
        break;
    case DW_EH_PE_datarel:
        base = cfi_pointer_address(section, section->hdr);
        break;
    default:
        return false;
    }
    if (!pointer_format(in, encoding, value))
        return false;
    *value += base;
    return true;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cfi_pointer: addresses in the bytes of a module, and the encodings that
 * .eh_frame and .eh_frame_hdr write them in. Any context; see cfi.h.
 */
#ifndef HW_PROBE_UNWIND_CFI_POINTER_H
#define HW_PROBE_UNWIND_CFI_POINTER_H

#include "base/cursor.h"
#include "probe/unwind/cfi.h"

/* The address that a byte of the section has in the program. */
static inline uint64_t cfi_pointer_address(const struct cfi_section *section, const uint8_t *byte)
{
    return (uint64_t)(uintptr_t)byte + (uint64_t)section->bias;
}

/* A cursor from address to the end of the section; false when address is outside. */
bool cfi_pointer_open(const struct cfi_section *section, uint64_t address, struct cursor *in);

/* How many bytes each value of this encoding takes; 0 when that varies or the
 * encoding is refused. */
unsigned cfi_pointer_width(uint8_t encoding);

/* Reads one value. False for an encoding that is refused: relative to the text or
 * to a function, aligned, indirect, omitted. A value that does not fit makes the
 * cursor bad, as always. Values relative to data count from .eh_frame_hdr, which is
 * what they mean there and nowhere else. */
bool cfi_pointer_read(const struct cfi_section *section, struct cursor *in, uint8_t encoding,
                      uint64_t *value);

#endif

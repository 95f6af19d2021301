/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cfi_entry: one FDE together with the CIE it names, decoded as far as is needed
 * to run it. Any context; see cfi.h.
 */
#ifndef HW_PROBE_UNWIND_CFI_ENTRY_H
#define HW_PROBE_UNWIND_CFI_ENTRY_H

#include "base/cursor.h"
#include "probe/unwind/cfi.h"

struct cfi_entry {
    uint64_t start; /* the pcs it covers: [start, end) */
    uint64_t end;
    uint64_t code_align;
    int64_t data_align;
    struct cursor initial; /* the CIE's instructions */
    struct cursor program; /* the FDE's instructions */
    uint8_t encoding;      /* of addresses in the FDE */
    bool has_lengths;      /* augmentation data carry their length */
    bool is_signal_frame;
};

/* Decodes the record at address. CFI_ABSENT: it is the terminator. CFI_UNSUPPORTED:
 * it is a CIE, or an FDE that is refused. *next is the address of the record after
 * it, or 0 when there is no way on. */
enum cfi_status cfi_entry_decode(const struct cfi_section *section, uint64_t address, struct cfi_entry *entry,
                                 uint64_t *next);

#endif

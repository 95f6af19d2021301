/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cfi_table: which FDE covers a pc. Any context; see cfi.h.
 */
#ifndef HW_PROBE_UNWIND_CFI_TABLE_H
#define HW_PROBE_UNWIND_CFI_TABLE_H

#include "probe/unwind/cfi.h"
#include "probe/unwind/cfi_entry.h"

/* Finds and decodes it: after CFI_OK, entry->start <= pc < entry->end. */
enum cfi_status cfi_table_find(const struct cfi_section *section, uint64_t pc, struct cfi_entry *entry);

#endif

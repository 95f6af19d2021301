/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cfi_file: where the unwind data of an ELF file are, as the probe would find them in a process.
 */
#ifndef HW_TESTS_UNWIND_CFI_FILE_H
#define HW_TESTS_UNWIND_CFI_FILE_H

#include "probe/unwind/cfi.h"

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/* Finds .eh_frame_hdr by program header, as the probe does, and where a file has
 * none its .eh_frame at address. */
bool cfi_file_open(Elf *elf, uint64_t address, struct cfi_section *section);

#endif

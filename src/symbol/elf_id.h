/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * elf_id: the build id of an ELF file, from its program headers: enough to
 * tell whether a file is the one that was recorded.
 */
#ifndef HW_SYMBOL_ELF_ID_H
#define HW_SYMBOL_ELF_ID_H

#include "tool/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ELF_ID_MAX = 64 };

struct elf_id {
    uint8_t bytes[ELF_ID_MAX];
    size_t length; /* 0: it has none */
};

/* False: no ELF file, or one that cannot be read. */
bool elf_id_read(struct elf_id *id, int fd);
/* Is this the file that has that build id?  Without a build id nobody can tell: true. */
bool elf_id_fits(const struct elf_id *id, const uint8_t *build_id, size_t length);
/* Opens the file that was recorded at path, below sysroot (NULL: there), if it is still that one; -1 in *fd otherwise. */
int elf_id_open(int *fd, const char *sysroot, const char *path, const uint8_t *build_id, size_t length,
                struct err *err);

#endif

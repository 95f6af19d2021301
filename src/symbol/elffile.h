/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * elffile: one ELF file, opened and judged: its build id, where its code is,
 * and whether its sections are of a size that we are ready to unpack.
 *
 * The file is mapped.  Whoever writes into it or cuts it meanwhile is not
 * guarded against, as in every debugger; package managers and linkers
 * put a new file in its place.
 */
#ifndef HW_SYMBOL_ELFFILE_H
#define HW_SYMBOL_ELFFILE_H

#include "tool/err.h"

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum { BUILD_ID_MAX = 64 };

struct build_id {
    uint8_t bytes[BUILD_ID_MAX];
    size_t length; /* 0 = none */
};

/* False, and none, when it is longer than we are ready for. */
bool build_id_set(struct build_id *id, const void *bytes, size_t length);
bool build_id_is_equal(const struct build_id *a, const struct build_id *b);
/* In hexadecimal; "none" for none.  text: 2 * BUILD_ID_MAX + 1 bytes. */
const char *build_id_format(const struct build_id *id, char *text);

struct elffile {
    Elf *elf;     /* NULL: not open */
    bool is_file; /* fd is open, and ours */
    int fd;       /* libdw asks it for the path when it looks for .dwo files */
    char *path;   /* as it was opened */
    void *memory; /* the bytes, when it has no descriptor */
    uint64_t size;
    uint64_t text_low, text_high; /* all executable segments are within */
    struct build_id id;
    struct stat stat; /* zeroed when it has no descriptor */
};

/* A regular ELF program or library of any CPU.  ERR_ABSENT, ERR_IO, ERR_INPUT, ERR_LIMIT, ERR_MEMORY. */
int elffile_open(struct elffile *f, const char *path, struct err *err);
/* The same; takes the descriptor, also when it fails.  path is how it is called in sentences. */
int elffile_open_fd(struct elffile *f, int fd, const char *path, struct err *err);
/* The same; takes bytes (from malloc), also when it fails. */
int elffile_open_memory(struct elffile *f, void *bytes, size_t size, const char *path, struct err *err);
/* Accepts a zeroed one. */
void elffile_close(struct elffile *f);

/* The first section of this name; NULL: none.  *header may be NULL. */
Elf_Scn *elffile_find_section(const struct elffile *f, const char *name, GElf_Shdr *header);
/* The bytes of a section as they are in memory; NULL: it has none. */
const uint8_t *elffile_get_bytes(Elf_Scn *section, size_t *length);
/* Has it debugging information of its own (or at least the section for it)? */
bool elffile_has_dwarf(const struct elffile *f);
/* Is it packed (zstd, which older libelfs do not read) so that nobody here unpacks it? */
bool elffile_has_packed_dwarf(const struct elffile *f);
/* ELF address of a byte of the file, as the program headers lay it out.  False: it is not loaded. */
bool elffile_find_address(const struct elffile *f, uint64_t offset, uint64_t *address);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * binary: a program or library with all that is known about its code, ready to
 * be asked.  Made by a symbolizer (symbolizer.h), which owns it.
 *
 * Addresses are those of the ELF file: address in the process - bias of the
 * module.  Not for several threads.  No function prints.
 */
#ifndef HW_SYMBOL_BINARY_H
#define HW_SYMBOL_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binary;

enum binary_source {
    BINARY_NOTHING, /* the file has neither symbols nor debugging information */
    BINARY_SYMBOLS, /* function names only */
    BINARY_LINES,   /* functions, inlined functions and lines */
};

/* Texts live as long as the binary. */
struct binary_frame {
    const char *function; /* demangled; "" = not known */
    const char *linkage;  /* as the linker knows it; "" = the same as function */
    const char
        *file; /* "" = not known; LIBC_ARCHIVE: of the C library that is linked in, and no more is known */
    uint32_t line; /* 0 = not known */
    bool inlined;  /* into the frame that follows */
};

enum { BINARY_FRAMES_MAX = 256 };

/* What is at an address: frames innermost first, valid until the next call.
 * exact: it is the address of the very instruction; otherwise it is a return
 * address, and the call before it is what is looked up.  Gives the number of frames; 0:
 * nothing is known. */
size_t binary_resolve(struct binary *b, uint64_t address, bool exact, const struct binary_frame **frames);

/* What it can tell; reads the file's tables when they have not been read yet. */
enum binary_source binary_get_source(struct binary *b);
/* A sentence for people about what is missing, with the build id by which it can be found; "" = nothing. */
const char *binary_get_remark(struct binary *b);
/* Whether there was no memory for its debugging information, at whatever call.  Then symbols are all that it
 * tells, and the remark says so. */
bool binary_is_poor(const struct binary *b);
/* The file that was taken, and the one with its debugging information ("" = none). */
const char *binary_get_path(const struct binary *b);
const char *binary_get_debug_path(const struct binary *b);
/* The ELF address of a byte of the file: bias = address of a mapping - ELF
 * address of its offset.  False: that byte is not loaded. */
bool binary_find_address(const struct binary *b, uint64_t offset, uint64_t *address);

#endif

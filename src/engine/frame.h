/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * frame: one line of a stack, and whose code it is.
 *
 * Roles are what lets a report begin where the reader's own code begins:
 *
 *   FRAME_ALLOCATOR  malloc and its kin, operator new, the probe, other
 *                    allocators: how the block was made
 *   FRAME_LIBRARY    the language's own library and the system's: std::, libc,
 *                    the loader; what is compiled from the system's headers;
 *                    well-known wrappers of malloc: xmalloc, g_malloc
 *   FRAME_GAP        stands for frames that were left out of the recording
 *   FRAME_OWN        everything else
 */
#ifndef HW_ENGINE_FRAME_H
#define HW_ENGINE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum frame_role { FRAME_OWN = 0, FRAME_LIBRARY = 1, FRAME_ALLOCATOR = 2, FRAME_GAP = 3 };

/* Texts are never NULL; "" = not known. */
struct frame {
    const char *function; /* demangled */
    const char *linkage;  /* as the linker knows it; "" = the same */
    const char *file;
    const char *module; /* path */
    uint32_t line;      /* 0 = not known */
    uint32_t symbol;    /* equal for frames of the same function of the same module */
    uint64_t address;   /* in its module as the ELF file counts; absolute without a module */
    bool inlined;       /* into the frame that follows */
    uint8_t role;       /* enum frame_role */
    bool wraps; /* the reader has named it a wrapper: what it calls to make a block is the allocator's */
};

/* The part of a path behind the last slash. */
const char *frame_basename(const char *path);

/* The qualified name inside a demangled signature, without result type and
 * parameters: "void a::b<int>::c(char) const" has "a::b<int>::c". */
const char *frame_find_name(const char *function, size_t *length);
/* Bytes of the arguments in round brackets that begin at function[at] and have more of the name behind
 * them: of a function around a class or lambda, "f(int) const::{lambda()#1}::operator()", or in D,
 * "f(int).g", those of D's templates, "map!(int).f", and what a method of Go belongs to, "main.(*T).f";
 * 0 = there are none, or the name ends there. */
size_t frame_skip_arguments(const char *function, size_t at);

/* Bytes of "operator" at the beginning of text with what it takes into the name: a sign, or a type up to its arguments;
 * 0 = none. */
size_t frame_skip_operator(const char *text);
/* Bytes of "operator" and the sign behind it at name[at], which may look like a bracket; 0 = there is none. */
size_t frame_skip_sign_of(const char *name, size_t at);
/* Bytes of a part of a name that says nothing to people, "(anonymous namespace)::", at the beginning of text; 0 = none. */
size_t frame_skip_noise(const char *text, size_t length);

/* Rust's parts of functions, "{closure#0}", "{{closure}}", "{async_fn#2}", at the beginning of text: the bytes of one; *word
 * and *length: what it is, "closure".  0 = there is none.  Their numbers say nothing to people, lines do. */
size_t frame_split_part(const char *text, size_t length, const char **word, size_t *word_length);

/* A method as Rust names it: "<type as trait>::f", or "<type>::f". */
struct frame_self {
    const char *type, *trait; /* trait: NULL = a method of the type itself */
    size_t type_length, trait_length;
};

/* Bytes of a qualified name up to behind the >; 0 = it does not begin so. */
size_t frame_split_self(const char *name, size_t length, struct frame_self *self);

enum { FRAME_PLACE_MAX = 300 };

/* What stands for a function that has no name: "git+0xa44e5".  Returns text. */
const char *frame_spell_place(char text[FRAME_PLACE_MAX], const char *module, uint64_t address);

#endif

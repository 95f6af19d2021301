/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * names: what addresses are called, for all processes of a recording together.
 *
 * An image is a file that code came from, known by build id and path; modules
 * of many processes share it.  A place is an address inside an image as its
 * ELF file counts them (address in the process - bias of the module), kept
 * exactly as the stack has it: for a return address that is the instruction
 * behind the call, and whoever resolves looks one byte before it.
 *
 * A place has one or more frames: the function that was compiled there and, in
 * front of it, those that were inlined into it, innermost first.
 *
 * Filled from the symbols chunks of a recording, and by whoever resolves
 * addresses afterwards.  All texts live as long as the struct.  Not for
 * several threads.  No function prints.
 */
#ifndef HW_STORE_NAMES_H
#define HW_STORE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct names;

enum {
    NAMES_TEXT_MAX = 16 << 10, /* bytes of a text; more is cut */
    NAMES_FRAMES_MAX = 255,    /* of a place; of more, the innermost go */
};

enum name_source {
    NAME_SOURCE_NONE = 0,    /* nobody has looked yet */
    NAME_SOURCE_MISSING = 1, /* no file was found, or one with another build id; `remark` says */
    NAME_SOURCE_SYMBOLS = 2, /* function names only: a symbol table */
    NAME_SOURCE_LINES = 3,   /* functions, inlined functions and lines: debug information */
};

struct name_image {
    const uint8_t *build_id;
    size_t build_id_length;
    const char *path;
    uint8_t source;     /* enum name_source */
    const char *remark; /* a sentence for people, "" = none */
};

struct name_frame {
    const char *function; /* demangled; "" = not known */
    const char *linkage;  /* as the linker knows it; "" = the same as function */
    const char *file;     /* "" = not known */
    uint32_t line;        /* 0 = not known */
    bool inlined;         /* into the frame that follows */
};

/* Frames innermost first; count is at least 1. */
struct name_place {
    const struct name_frame *frames;
    uint32_t count;
};

struct names *names_new(void);
void names_free(struct names *n);

/* The image with this build id and path, added when it is new.  Images are
 * numbered from 1; 0: no memory. */
uint32_t names_image(struct names *n, const uint8_t *build_id, size_t build_id_length, const char *path);
size_t names_image_count(const struct names *n);
/* Whether a path is that of the image which stands for code in no module, "[process 3]"; *process
 * gets the number. */
bool names_is_process(const char *path, uint32_t *process);
const struct name_image *names_get_image(const struct names *n, uint32_t image);
/* False: no memory. */
bool names_set_source(struct names *n, uint32_t image, enum name_source source, const char *remark);

/* Names a place; what it was called before is forgotten (count 0: and that is
 * all).  exact: the address is that of the very instruction and no return
 * address.  False: no memory. */
bool names_add(struct names *n, uint32_t image, uint64_t place, bool exact, const struct name_frame *frames,
               uint32_t count);
/* The one copy of a text; NULL: no memory. */
const char *names_text(struct names *n, const char *bytes, size_t length);
/* names_add for frames all of whose texts are from names_text; linkage is ""
 * where it is the function's. */
bool names_add_kept(struct names *n, uint32_t image, uint64_t place, bool exact,
                    const struct name_frame *frames, uint32_t count);
/* NULL: not named. */
const struct name_place *names_find(const struct names *n, uint32_t image, uint64_t place, bool exact);
/* Places that have a name, all images together, or of one. */
size_t names_count(const struct names *n);
size_t names_count_image(const struct names *n, uint32_t image);

struct name_entry {
    uint64_t place;
    bool exact;
    const struct name_place *name;
};

/* The named places of an image by rising address; the caller frees *entries.
 * False: no memory. */
bool names_list(const struct names *n, uint32_t image, struct name_entry **entries, size_t *count);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * locate: which file holds a program that was recorded, its debugging
 * information, and what several debug files share (dwz).
 *
 * Nothing is taken on its name alone: build ids must agree, or, where there is
 * none, the checksum of .gnu_debuglink.
 */
#ifndef HW_SYMBOL_LOCATE_H
#define HW_SYMBOL_LOCATE_H

#include "symbol/download.h"
#include "symbol/elffile.h"
#include "tool/err.h"
#include "tool/strbuf.h"
#include "tool/vec.h"

#include <elfutils/libdw.h>
#include <stdbool.h>

struct locate {
    char *sysroot;       /* "" = the system's own */
    VEC(char *) folders; /* searched besides, in this order */
    struct download download;
};

/* False: no memory.  Both texts may be NULL; debug_path is folders with ':' between them. */
bool locate_init(struct locate *l, const char *sysroot, const char *debug_path);
void locate_release(struct locate *l);

/* Can there be a file at the path of a module?  What was no file (the vdso) has no slash, descriptors of the program
 * (/proc/self/fd/3) are others here, and what does not begin at the root is in no sysroot. */
bool locate_is_file(const char *path, bool has_sysroot);

/* The program or library that was at `path` and has this build id (of length 0:
 * none was recorded, and any file is taken).  When only its debug file is found,
 * that one.  ERR_ABSENT with a sentence that says what stands in its place. */
int locate_binary(struct locate *l, const char *path, const struct build_id *id, struct elffile *out,
                  struct err *err);

/* The separate debug file of a program without debugging information.  path is
 * where the program was when it was recorded.  False: there is none; *err, without a code
 * otherwise, names the first that has the right name and belongs to another build. */
bool locate_debug(struct locate *l, const struct elffile *program, const char *path, struct elffile *out,
                  struct err *err);

/* Calls visit with the places where a package (.dwp) of the .dwo files of a program may be, whether there is a
 * file or not, until it says true.  debug: its debug file; not open when it has none. */
typedef bool locate_visit(const char *path, void *context);
bool locate_package(struct locate *l, const struct elffile *program, const struct elffile *debug,
                    const char *path, locate_visit *visit, void *context);

/* The file that .gnu_debugaltlink of a debug file names.  False: it names none, or it is not there. */
bool locate_shared(struct locate *l, const struct elffile *debug, Dwarf *dwarf, struct elffile *out);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * veil: names that are not to be seen by others, replaced by tokens.
 *
 *   VEIL_NONE     everything as it is
 *   VEIL_PARTIAL  the program's own functions, files, threads, marks and arguments
 *                 are tokens.  What everybody has stays: functions of the system and
 *                 the language (without template arguments and parameters, which may
 *                 name the program's own types), and the base names of modules
 *   VEIL_FULL     every name is a token, and build ids are left out.  What stays is
 *                 whose code it is: tokens of functions and modules that are not the
 *                 program's own begin with allocator_ or library_, so that sites
 *                 begin where they did
 *
 * A token is "function_" (or file_, module_, ...) and twelve digits of a hash of
 * the name and a salt: in all exports of one recording the same name is the same
 * token, and two names are two tokens.  The salt comes from the recording, so that
 * tokens cannot be looked up in a list of likely names.
 *
 * Numbers (sizes, times, lines, addresses inside modules) are not veiled.
 * Texts live until veil_release.  Not for several threads.
 */
#ifndef HW_QUERY_VEIL_H
#define HW_QUERY_VEIL_H

#include <stdbool.h>
#include <stdint.h>

#include "query/frame.h"
#include "query/words.h"
#include "store/reader.h"

enum veil_level { VEIL_NONE = 0, VEIL_PARTIAL, VEIL_FULL };

enum veil_what {
    VEIL_FUNCTION,
    VEIL_FILE,
    VEIL_MODULE,
    VEIL_THREAD,
    VEIL_MARK,
    VEIL_PROGRAM,
    VEIL_POOL,
    VEIL_RANGE
};

struct veil {
    enum veil_level level;
    uint64_t salt;
    struct words words;
};

void veil_init(struct veil *v, enum veil_level level, uint64_t salt);
/* The salt of a recording: from figures that nothing made of it under a veil
 * shows together. */
uint64_t veil_salt(const struct wake_reader *r);
void veil_release(struct veil *v);

/* How a name is shown; "" stays "".  NULL: no memory.
 *   VEIL_FUNCTION, VEIL_FILE   of the program's own code
 *   VEIL_PROGRAM               path of a program; partial leaves its base name */
const char *veil_text(struct veil *v, enum veil_what what, const char *text);
/* The names of a frame, by its role, which must be set.  False: no memory. */
bool veil_frame(struct veil *v, struct frame *f);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * anonymize: names that are not to be seen by others, replaced by tokens.
 *
 *   ANONYMIZE_NONE     everything as it is
 *   ANONYMIZE_PARTIAL  the program's own functions, files, threads, marks and arguments
 *                 are tokens.  What everybody has stays: functions of the system and
 *                 the language (without template arguments and parameters, which may
 *                 name the program's own types), and the base names of modules
 *   ANONYMIZE_FULL     every name is a token, and build ids are left out.  What stays is
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
 * Texts live until anonymize_release.  Not for several threads.
 */
#ifndef HW_ANALYSIS_ANONYMIZE_H
#define HW_ANALYSIS_ANONYMIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/words.h"
#include "engine/frame.h"
#include "store/reader.h"

enum anonymize_level { ANONYMIZE_NONE = 0, ANONYMIZE_PARTIAL, ANONYMIZE_FULL };

enum anonymize_what {
    ANONYMIZE_FUNCTION,
    ANONYMIZE_FILE,
    ANONYMIZE_MODULE,
    ANONYMIZE_THREAD,
    ANONYMIZE_MARK,
    ANONYMIZE_PROGRAM,
    ANONYMIZE_POOL,
    ANONYMIZE_RANGE
};

struct anonymize {
    enum anonymize_level level;
    uint64_t salt;
    struct words words;
};

void anonymize_init(struct anonymize *v, enum anonymize_level level, uint64_t salt);
/* The salt of a recording: from figures that nothing made of it under a veil
 * shows together. */
uint64_t anonymize_salt(const struct wake_reader *r);
void anonymize_release(struct anonymize *v);

/* How a name is shown; "" stays "".  NULL: no memory.
 *   ANONYMIZE_FUNCTION, ANONYMIZE_FILE   of the program's own code
 *   ANONYMIZE_PROGRAM               path of a program; partial leaves its base name */
const char *anonymize_text(struct anonymize *v, enum anonymize_what what, const char *text);
/* The names of a frame, by its role, which must be set.  False: no memory. */
bool anonymize_frame(struct anonymize *v, struct frame *f);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * symbolize_file: puts names, and binaries if the user wants them, into a recording that is closed.
 */
#ifndef HW_SYMBOL_SYMBOLIZE_FILE_H
#define HW_SYMBOL_SYMBOLIZE_FILE_H

#include "symbol/naming.h"
#include "tool/err.h"
#include "tool/level.h"

#include <stdbool.h>

struct symbolize_file {
    struct naming_options naming;
    bool names;  /* names are looked up */
    bool embeds; /* binaries are put into the file */
    /* Shows what is known of a recording, before its file is changed; may be NULL. */
    void (*show)(void *of, struct wake_reader *r);
    void *show_of;
    level_say_fn *say; /* what could not be done, one sentence each */
    void *say_of;
};

/* One recording, with a naming that was opened with f->naming. */
int symbolize_file_run(const struct symbolize_file *f, struct naming *n, const char *path, struct err *err);

#endif

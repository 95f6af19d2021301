/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * recording_file: how commands open a recording that they look at themselves, and how they make one.
 */
#ifndef HW_CMD_RECORDING_FILE_H
#define HW_CMD_RECORDING_FILE_H

#include "store/reader.h"
#include "store/rewrite.h"
#include "tool/err.h"
#include "tool/strbuf.h"

/* The name may be a pattern (glob(7)) for the files of one series, where no file is called so.
 * NULL: it has been said why. */
struct wake_reader *recording_file_open(const char *path);
/* A better sentence about a file that is no recording, where there is one.  For session_options. */
void recording_file_explain(void *of, const char *path, struct err *err);

/* A recording that is being made is called NAME.partial, which *partial becomes.  Not 0: what is called NAME is
 * nothing that a recording replaces, or there is no memory.  If 0, recording_file_end() has to follow; a
 * signal that ends the command in between removes what is there (unfinished.h). */
int recording_file_begin(struct strbuf *partial, const char *name, struct err *err);
/* code: how the making went.  Well: it gets its name, in place of what had it.  Else it is removed. */
int recording_file_end(const struct strbuf *partial, const char *name, int code, struct err *err);

/* The same for a recording that is made of others (store/rewrite.h): recording_file_close() has to follow. */
int recording_file_rewrite(struct wake_rewrite **rw, const char *name, const struct rewrite_options *options,
                           struct err *err);
int recording_file_close(struct wake_rewrite *rw, int code, struct err *err);

#endif

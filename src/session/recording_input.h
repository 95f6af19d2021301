/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * recording_input: opens a file as a recording: a .wake file, or a spool, which is turned into one first.
 */
#ifndef HW_SESSION_RECORDING_INPUT_H
#define HW_SESSION_RECORDING_INPUT_H

#include "store/reader.h"
#include "tool/err.h"

/* Files of one series, in their order, as one recording (store/series.h).  ERR_ABSENT, ERR_INPUT (not a recording),
 * ERR_IO, ERR_MEMORY. */
int recording_input_open_series(struct wake_reader **r, const char *const *paths, size_t count,
                                struct err *err);
/* One file, or where none is called so a pattern (glob(7)) for the files of one series. */
int recording_input_open_any(struct wake_reader **r, const char *path, struct err *err);

#endif

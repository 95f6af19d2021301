/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * recording_file: how commands get at a recording: a .wake file, or a spool,
 * which is turned into one first.
 */
#ifndef HW_CMD_RECORDING_FILE_H
#define HW_CMD_RECORDING_FILE_H

#include "store/reader.h"

/* The name may be a pattern (glob(7)) for the files of one series, where no file is called so.
 * NULL: it has been said why. */
struct wake_reader *recording_file_open(const char *path);
/* Parts of one series, in their order, as one recording (store/series.h). */
struct wake_reader *recording_file_open_series(const char *const *paths, size_t count);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * thin: copies a recording without the events of blocks, and whole realloc
 * chains, that lived shorter than a threshold (store/cull.h).  Totals, live
 * blocks, ends, samples, marks, names and binaries stay.
 */
#ifndef HW_STORE_THIN_H
#define HW_STORE_THIN_H

#include "store/reader.h"
#include "store/writer.h"
#include "tool/err.h"

/* Writes the file `path`, in place of what is there.  What of the recording
 * cannot be read is left out and counted as lost. */
int wake_thin(struct wake_reader *r, const char *path, const struct wake_cull_options *options,
              struct err *err);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * finish: what is done with the files of a collector once they are closed.
 */
#ifndef HW_CMD_FINISH_H
#define HW_CMD_FINISH_H

#include "collect/collector.h"

#include <stdbool.h>
#include <stdint.h>

/* The switches as HEAPWAKE_SYMBOLS and HEAPWAKE_EMBED_BINARIES have them; NULL = not set. */
bool finish_wants_names(const char *value);
bool finish_wants_binaries(const char *value);

/* All files of a collector that is closed.  Ctrl-C and SIGTERM stop the search
 * for names; notice: say what takes so long, after a while. */
void finish_collector(struct collector *c, bool names, bool embeds, bool notice);

#endif

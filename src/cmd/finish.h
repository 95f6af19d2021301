/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * finish: what is done with a recording once it is closed: names are looked up
 * and, with the binaries if the user wants them, put into the file.
 */
#ifndef HW_CMD_FINISH_H
#define HW_CMD_FINISH_H

#include "cmd/naming.h"
#include "collect/collector.h"
#include "tool/err.h"
#include "tool/level.h"

#include <stdbool.h>
#include <stdint.h>

struct finish {
    struct naming_options naming;
    bool names;  /* names are looked up */
    bool embeds; /* binaries are put into the file */
    /* Shows what is known of a recording, before its file is changed; NULL: nobody wants to know. */
    void (*show)(void *of, struct wake_reader *r);
    void *show_of;
    collector_say_fn *say; /* what could not be done, one sentence each */
    void *say_of;
};

/* One recording, with a naming that was opened with f->naming. */
int finish_file(const struct finish *f, struct naming *n, const char *path, struct err *err);

/* The switches as HEAPWAKE_SYMBOLS and HEAPWAKE_EMBED_BINARIES have them; NULL = not set. */
bool finish_wants_names(const char *value);
bool finish_wants_binaries(const char *value);

/* All files of a collector that is closed.  Ctrl-C and SIGTERM stop the search
 * for names; notice: say what takes so long, after a while. */
void finish_collector(struct collector *c, bool names, bool embeds, bool notice);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * download: debug files and programs by build id from debuginfod servers
 * (DEBUGINFOD_URLS), through libdebuginfod.so.1 if the system has it.
 *
 * The library is loaded when the first file is asked for and never linked: it
 * brings curl and some thirty libraries.  It keeps what it fetched in
 * ~/.cache/debuginfod_client and remembers there what servers do not have.
 */
#ifndef HW_SYMBOL_DOWNLOAD_H
#define HW_SYMBOL_DOWNLOAD_H

#include "symbol/elffile.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* How far something long has come, some times a second; total 0 = not known.  text is one line without an end of line. */
typedef void progress_fn(const char *text, uint64_t done, uint64_t total, void *context);

struct download {
    bool is_on;            /* set by the caller, as are the next four */
    unsigned patience_ms;  /* without a single byte; then the network is left alone */
    progress_fn *progress; /* may be NULL */
    void *progress_context;
    const volatile sig_atomic_t *interrupt; /* may be NULL; not 0 = stop */
    bool gave_up;                           /* no library, no servers, no patience left */
    const char *remark;                     /* a sentence for people about that; NULL = none */
    struct client *client;                  /* NULL until needed */
};

enum download_kind {
    DOWNLOAD_DEBUG,
    DOWNLOAD_PROGRAM,
};

/* A descriptor, close-on-exec, or -1.  name is what the progress text calls it. */
int download_file(struct download *d, enum download_kind kind, const struct build_id *id, const char *name);
/* Lets the library go and gives the network another chance. */
void download_release(struct download *d);

#endif

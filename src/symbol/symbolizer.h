/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * symbolizer: finds the files that recorded code came from, and keeps them open.
 *
 *     struct symbolizer *s = symbolizer_new(&(struct symbolizer_options){.debug_path = "/srv/debug"});
 *     if (symbolizer_open(s, &b, "/usr/bin/app", id, id_length, &err) == 0)
 *         count = binary_resolve(b, address, false, &frames);
 *     symbolizer_free(s);
 *
 * It may live as long as the process and serve many recordings: a file that
 * is open already is not opened again.  Not for several threads.  No function prints.
 *
 * Nobody asks the network unless `debuginfod` says so.
 */
#ifndef HW_SYMBOL_SYMBOLIZER_H
#define HW_SYMBOL_SYMBOLIZER_H

#include "symbol/binary.h"
#include "tool/err.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbolizer;

/* How far a download has come, in bytes; total 0 = not known, or nobody has answered yet.  Called some times a second while
 * a server is waited for.  text is one line without its end. */
typedef void symbolizer_progress(const char *text, uint64_t done, uint64_t total, void *context);

/* Zeroed: the system's own files, and no network.  Texts are copied. */
struct symbolizer_options {
    const char *sysroot;           /* put before the paths of modules and before /usr/lib/debug; NULL = "" */
    const char *debug_path;        /* "A:B": folders with programs and debug files, searched by path, by base
                             * name and by A/.build-id/xx/yyyy.debug; NULL = none */
    bool debuginfod;               /* ask the servers in DEBUGINFOD_URLS for what is not found */
    unsigned patience_ms;          /* how long without a byte from them; 0 = 10 seconds.  They are then left
                             * alone */
    symbolizer_progress *progress; /* may be NULL */
    void *progress_context;
    const volatile sig_atomic_t *interrupt; /* may be NULL; once not 0, no server is asked any more */
};

/* NULL: no memory. */
struct symbolizer *symbolizer_new(const struct symbolizer_options *options);
void symbolizer_free(struct symbolizer *s);

/* The program or library that was at `path` and has this build id.  Length 0:
 * none is known, and the file that is there now is taken.  A path may end in " (deleted)" or be
 * [vdso].  Fails with ERR_ABSENT and one sentence for people: the file is not
 * there, or it is another one (both build ids are named); or with ERR_MEMORY.
 * The binary belongs to the symbolizer. */
int symbolizer_open(struct symbolizer *s, struct binary **binary, const char *path, const uint8_t *build_id,
                    size_t build_id_length, struct err *err);

/* The same for an ELF file that is not on disk: bytes are copied, a descriptor
 * is duplicated.  path is what the recording calls it; separate debug files are
 * searched as if it were there.  ERR_INPUT, ERR_LIMIT, ERR_IO, ERR_MEMORY. */
int symbolizer_open_memory(struct symbolizer *s, struct binary **binary, const char *path, const void *bytes,
                           size_t size, struct err *err);
int symbolizer_open_fd(struct symbolizer *s, struct binary **binary, const char *path, int fd,
                       struct err *err);

/* A sentence for people when servers were left alone before they had answered; "" = they were not. */
const char *symbolizer_get_remark(const struct symbolizer *s);

#endif

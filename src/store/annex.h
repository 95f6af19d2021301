/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * annex: adds names and binaries to a recording that is finished.
 *
 * What the recorder wrote, its index and its end included, is never touched:
 * new chunks go behind it, and a new index and end behind those.  So whoever
 * is killed half way leaves the recording as it was, and a bit of rubbish that
 * readers pass over.  A recording that was never closed gets the new chunks
 * and no end: it stays what it is.
 *
 *     open, add binaries and notes, add names, close
 *
 * Names replace those that the file had, so they are always given, and last;
 * binaries and notes that are there stay.  Errors are sticky: the first one puts the
 * file back as it was, and closing tells.  The file is locked meanwhile: one
 * that is being recorded, or added to by another, is refused.
 */
#ifndef HW_STORE_ANNEX_H
#define HW_STORE_ANNEX_H

#include <stddef.h>
#include <stdint.h>

#include "store/names.h"
#include "tool/err.h"

struct wake_annex;

/* ERR_INPUT: no recording; ERR_IO: cannot be written, or is in use; ERR_ABSENT, ERR_UNSUPPORTED, ERR_MEMORY. */
int wake_annex_open(struct wake_annex **a, const char *path, struct err *err);

/* Adds the file behind fd (read from its beginning).  0; ERR_IO or ERR_INPUT:
 * it cannot be read, or changed meanwhile; it is left out and nothing else is
 * affected.  Trouble with the recording itself is told by wake_annex_close. */
int wake_annex_add_binary(struct wake_annex *a, const struct name_image *image, int fd, struct err *err);
/* Adds a piece of a binary as another recording has it (store/piece.h); raw: its length if it were not packed.
 * Pieces of one binary follow each other. */
void wake_annex_add_piece(struct wake_annex *a, const void *bytes, size_t length, uint32_t raw);
/* A sentence for people about the recording (wake_reader_note). */
void wake_annex_add_note(struct wake_annex *a, const char *text);
void wake_annex_add_names(struct wake_annex *a, const struct names *n);

/* Finishes and frees.  On failure the file is as it was before. */
int wake_annex_close(struct wake_annex *a, struct err *err);

#endif

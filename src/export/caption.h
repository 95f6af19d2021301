/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * caption: what a frame is called in one line of text.
 *
 * Names come from the recorded program and may hold anything.  What comes out is
 * well-formed UTF-8 without control and hidden characters, on one line.
 */
#ifndef HW_EXPORT_CAPTION_H
#define HW_EXPORT_CAPTION_H

#include <stdint.h>

#include "analysis/anonymize.h"
#include "engine/frame.h"
#include "store/reader.h"
#include "tool/strbuf.h"

/* Stands where a block has no stack. */
#define CAPTION_NO_STACK "[no stack]"

/* Any text of the program, made safe. */
void caption_add_text(struct strbuf *out, const char *text);
/* The function, or where there is none, module+0xaddress. */
void caption_add(struct strbuf *out, const struct frame *f);
/* 0xADDRESS: function (file:line), or (in module): as Valgrind's tools write it. */
void caption_add_place(struct strbuf *out, const struct frame *f);
/* The command line of a process, or what the veil (NULL: none) leaves of it; its
 * program where that is not known. */
void caption_add_command(struct strbuf *out, struct anonymize *veil, const struct wake_process *p);

/* One line of text as XML and HTML have it: entities for what means something there. */
void caption_add_markup(struct strbuf *out, const char *text);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * caption: see caption.h.
 */
#include "export/caption.h"

#include "present/markup.h"

#include <string.h>

#include "present/safe.h"

static void caption_add_bytes(struct strbuf *out, const char *text, size_t length)
{
    while (length > 0) {
        unsigned point;
        size_t used = safe_decode(text, length, &point);
        if (used == 0 || point == 0xfffe || point == 0xffff)
            strbuf_add_text(out, "\xef\xbf\xbd"); /* U+FFFD */
        else if (point < ' ' || (point >= 0x7f && safe_is_hidden(point)))
            strbuf_add_char(out, '?');
        else
            strbuf_add(out, text, used);
        text += used == 0 ? 1 : used;
        length -= used == 0 ? 1 : used;
    }
}

void caption_add_text(struct strbuf *out, const char *text)
{
    caption_add_bytes(out, text, strlen(text));
}

void caption_add(struct strbuf *out, const struct frame *f)
{
    if (f->function[0] != '\0') {
        caption_add_text(out, f->function);
        return;
    }
    const char *module = frame_basename(f->module);
    caption_add_text(out, module[0] == '\0' ? "[unknown]" : module);
    strbuf_addf(out, "+0x%llx", (unsigned long long)f->address);
}

void caption_add_place(struct strbuf *out, const struct frame *f)
{
    strbuf_addf(out, "0x%llX: ", (unsigned long long)f->address);
    if (f->function[0] != '\0')
        caption_add_text(out, f->function);
    else
        strbuf_add_text(out, "???");
    if (f->file[0] != '\0' && f->line != 0) {
        strbuf_add_text(out, " (");
        caption_add_text(out, frame_basename(f->file));
        strbuf_addf(out, ":%u)", f->line);
    } else if (f->module[0] != '\0') {
        strbuf_add_text(out, " (in ");
        caption_add_text(out, f->module);
        strbuf_add_char(out, ')');
    }
}

void caption_add_command(struct strbuf *out, struct anonymize *veil, const struct wake_process *p)
{
    const char *args = p->info.args;
    if (veil != NULL && veil->level != ANONYMIZE_NONE) {
        const char *shown = anonymize_text(veil, ANONYMIZE_PROGRAM, p->info.exe == NULL ? "" : p->info.exe);
        caption_add_text(out, shown == NULL ? "" : shown);
        return;
    }
    size_t length = p->info.args_length;
    if (length == 0) {
        caption_add_text(out, p->info.exe == NULL ? "" : p->info.exe);
        return;
    }
    for (size_t at = 0; at < length;) {
        size_t n = strnlen(args + at, length - at);
        if (at > 0)
            strbuf_add_char(out, ' ');
        caption_add_bytes(out, args + at, n);
        at += n + 1;
    }
}

void caption_add_markup(struct strbuf *out, const char *text)
{
    struct strbuf line;
    strbuf_init(&line);
    caption_add_text(&line, text);
    markup_add_xml(out, strbuf_get(&line));
    out->failed = out->failed || line.failed;
    strbuf_release(&line);
}

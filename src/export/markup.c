/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * markup: see markup.h.
 */
#include "export/markup.h"

#include "export/caption.h"

void markup_add(struct strbuf *out, const char *text)
{
    struct strbuf safe;
    strbuf_init(&safe);
    caption_add_text(&safe, text);
    for (const char *at = strbuf_get(&safe); *at != '\0'; at++) {
        switch (*at) {
        case '&':
            strbuf_add_text(out, "&amp;");
            break;
        case '<':
            strbuf_add_text(out, "&lt;");
            break;
        case '>':
            strbuf_add_text(out, "&gt;");
            break;
        case '"':
            strbuf_add_text(out, "&quot;");
            break;
        case '\'':
            strbuf_add_text(out, "&#39;");
            break;
        default:
            strbuf_add_char(out, *at);
        }
    }
    out->failed = out->failed || safe.failed;
    strbuf_release(&safe);
}

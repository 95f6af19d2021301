/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * markup: see markup.h.
 */
#include "present/markup.h"

void markup_add_xml(struct strbuf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
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
            strbuf_add_char(out, *text);
        }
    }
}

void markup_add_code(struct strbuf *out, const char *text)
{
    for (; *text != '\0'; text++)
        strbuf_add_char(out, *text == '`' || *text == '|' || *text == '\n' ? ' ' : *text);
}

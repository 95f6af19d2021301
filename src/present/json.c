/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * json: see json.h.
 */
#include "present/json.h"

#include "base/digits.h"
#include "present/safe.h"

#include <string.h>

void json_init(struct json *j, struct strbuf *out)
{
    *j = (struct json){out, 0, true};
}

/* Beyond 16 bits by two halves, as JSON has it. */
static void json_escape(struct strbuf *out, unsigned point)
{
    if (point > 0xffff)
        strbuf_addf(out, "\\u%04x\\u%04x", 0xd800 + ((point - 0x10000) >> 10), 0xdc00 + (point & 0x3ff));
    else
        strbuf_addf(out, "\\u%04x", point);
}

/* A text as a JSON string. */
static void json_quote(struct strbuf *out, const char *text, size_t length)
{
    strbuf_add_char(out, '"');
    while (length > 0) {
        unsigned point;
        size_t used = safe_decode(text, length, &point);
        if (used == 0) {
            used = 1;
            strbuf_add_text(out, "\\ufffd");
        } else if (point == '"' || point == '\\') {
            strbuf_addf(out, "\\%c", (char)point);
        } else if (point < 0x20 || (point >= 0x7f && safe_is_hidden(point))) {
            json_escape(out, point);
        } else {
            strbuf_add(out, text, used);
        }
        text += used;
        length -= used;
    }
    strbuf_add_char(out, '"');
}

static void json_indent(struct json *j)
{
    char *to = strbuf_reserve(j->out, 1 + 2 * (size_t)j->depth);
    if (to == NULL)
        return;
    to[0] = '\n';
    memset(to + 1, ' ', 2 * (size_t)j->depth);
    strbuf_grown(j->out, 1 + 2 * (size_t)j->depth);
}

/* What stands before every value. */
static void json_next(struct json *j, const char *key)
{
    if (!j->fresh)
        strbuf_add_char(j->out, ',');
    if (j->depth > 0)
        json_indent(j);
    j->fresh = false;
    if (key != NULL) {
        json_quote(j->out, key, strlen(key));
        strbuf_add_text(j->out, ": ");
    }
}

static void json_open(struct json *j, const char *key, char bracket)
{
    json_next(j, key);
    strbuf_add_char(j->out, bracket);
    j->depth++;
    j->fresh = true;
}

static void json_close(struct json *j, char bracket)
{
    j->depth--;
    if (!j->fresh)
        json_indent(j);
    strbuf_add_char(j->out, bracket);
    j->fresh = false;
    if (j->depth == 0)
        strbuf_add_char(j->out, '\n');
}

void json_open_object(struct json *j, const char *key)
{
    json_open(j, key, '{');
}

void json_close_object(struct json *j)
{
    json_close(j, '}');
}

void json_open_array(struct json *j, const char *key)
{
    json_open(j, key, '[');
}

void json_close_array(struct json *j)
{
    json_close(j, ']');
}

void json_add_number(struct json *j, const char *key, uint64_t value)
{
    json_next(j, key);
    char *to = strbuf_reserve(j->out, DIGITS_MAX);
    if (to != NULL)
        strbuf_grown(j->out, (size_t)(digits_put(to, value) - to));
}

void json_add_signed(struct json *j, const char *key, int64_t value)
{
    json_next(j, key);
    strbuf_addf(j->out, "%lld", (long long)value);
}

void json_add_real(struct json *j, const char *key, double value)
{
    json_next(j, key);
    strbuf_addf(j->out, "%.3f", value);
}

void json_add_bool(struct json *j, const char *key, bool value)
{
    json_next(j, key);
    strbuf_add_text(j->out, value ? "true" : "false");
}

void json_add_null(struct json *j, const char *key)
{
    json_next(j, key);
    strbuf_add_text(j->out, "null");
}

void json_add_text(struct json *j, const char *key, const char *text, size_t length)
{
    json_next(j, key);
    json_quote(j->out, text, length);
}

void json_add_written(struct json *j, const char *key, const struct strbuf *value)
{
    json_next(j, key);
    strbuf_add(j->out, value->text, value->length);
}

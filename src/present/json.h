/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * json: writes JSON that is always valid.  Commas, quotes and indentation are
 * its own; the caller says what comes next.
 *
 * Strings may be any bytes: what is not UTF-8 becomes U+FFFD.
 */
#ifndef HW_PRESENT_JSON_H
#define HW_PRESENT_JSON_H

#include "tool/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
    struct strbuf *out;
    unsigned depth;
    bool fresh; /* nothing yet at this depth */
};

void json_init(struct json *j, struct strbuf *out);
/* key: NULL inside an array and at the top. */
void json_open_object(struct json *j, const char *key);
void json_close_object(struct json *j);
void json_open_array(struct json *j, const char *key);
void json_close_array(struct json *j);
void json_add_number(struct json *j, const char *key, uint64_t value);
void json_add_signed(struct json *j, const char *key, int64_t value);
void json_add_real(struct json *j, const char *key, double value);
void json_add_bool(struct json *j, const char *key, bool value);
void json_add_null(struct json *j, const char *key);
void json_add_text(struct json *j, const char *key, const char *text, size_t length);
/* A value that the caller has written: not empty, and JSON of its own. */
void json_add_written(struct json *j, const char *key, const struct strbuf *value);

#endif

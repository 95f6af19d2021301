/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * jsonread: JSON from left to right, for a reader who knows what to expect.
 *
 *     jsonread_open(&j, '{');
 *     while (jsonread_key(&j, key, sizeof key))
 *         if (strcmp(key, "pid") == 0) pid = jsonread_number(&j);
 *         else jsonread_skip(&j);
 *
 * Like a cursor: what does not fit makes it bad, and a bad one gives nothing more.
 */
#ifndef HW_IMPORT_JSONREAD_H
#define HW_IMPORT_JSONREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/strbuf.h"

struct jsonread {
    const char *begin, *at, *end;
    bool is_first; /* an object or array has just been opened */
    bool bad;
};

void jsonread_init(struct jsonread *j, const char *text, size_t length);

/* '{' or '['. */
void jsonread_open(struct jsonread *j, char bracket);
/* The next key of an object; false: the object is over (or all is bad).  A longer key is cut. */
bool jsonread_key(struct jsonread *j, char *key, size_t size);
/* Is there a further value in the array?  False: it is over. */
bool jsonread_more(struct jsonread *j);

/* A number that is not negative; a fraction is cut off. */
uint64_t jsonread_number(struct jsonread *j);
bool jsonread_bool(struct jsonread *j);
/* Replaces what is in `to`. */
void jsonread_text(struct jsonread *j, struct strbuf *to);
/* Any value. */
void jsonread_skip(struct jsonread *j);

#endif

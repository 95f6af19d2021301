/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * condition: a condition as people write it, "size>100" or "function~^git", in the keys of parse.h:
 *
 *     size>=4K    size-min=4K              size=100          size-min=100 size-max=100
 *     size>100    size-min=101             allocated>=10s    allocated-from=10s
 *     size<100    size-max=99              function!~^git    not-function=^git
 *     kind=new    as it is                 kind!=new         all other kinds
 */
#ifndef HW_ENGINE_CONDITION_H
#define HW_ENGINE_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/query.h"
#include "tool/err.h"

enum { CONDITION_KEY = 64 };

struct condition {
    char keys[2][CONDITION_KEY]; /* of query_parse; both get the value */
    size_t key_count;
    const char *value;
    bool is_strict;   /* the bound itself does not count */
    bool is_negative; /* all other values of the key count */
};

/* ERR_USAGE with a sentence: there is no comparison in the text, or its key does not have that one. */
int condition_read(struct condition *c, const char *text, struct err *err);
/* Completes what query_parse() did with a key of the condition and its value. */
int condition_finish(const struct condition *c, struct query *q, const char *key, struct err *err);

#endif

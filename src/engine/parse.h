/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * parse: the words in which people ask: "size-min" and "4K".  One place for
 * all faces: options of commands, query strings of the web page, and the help
 * of both.
 */
#ifndef HW_ENGINE_PARSE_H
#define HW_ENGINE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/query.h"
#include "tool/err.h"

/* Adds one condition or wish.  A key given again replaces what it set, or adds to a list.
 * ERR_USAGE and a sentence: no such key (and which is near), or a value that
 * cannot be; ERR_MEMORY.  Then the query is as before. */
int query_parse(struct query *q, const char *key, const char *value, struct err *err);
/* A key that was given and says which blocks of a process count; NULL = none. */
const char *query_find_condition(const struct query *q);
/* Was it given, so that another value would replace that? */
bool query_has_key(const struct query *q, const char *key);

/* The bound that a key such as "size-min" sets; NULL: it sets none that is a number. */
uint64_t *query_find_bound(struct query *q, const char *key);

/* The keys in their order, for help: i from 0 on.  False: no more. */
struct query_key {
    const char *name;
    const char *value; /* what its value looks like: "SIZE", "TIME", "inside|outside" */
    const char *help;  /* half a sentence */
    enum query_about about;
    bool
        is_wish; /* what an answer is to hold, for those who read one themselves; a command knows that of itself */
};
bool query_get_key(size_t i, struct query_key *key);

#endif

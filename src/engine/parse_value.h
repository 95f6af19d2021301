/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * parse_value: readers of what stands behind a key: a size, a moment, words, a list.
 */
#ifndef HW_ENGINE_PARSE_VALUE_H
#define HW_ENGINE_PARSE_VALUE_H

#include <stddef.h>

#include "engine/query.h"
#include "tool/err.h"

struct parse_key;
/* `to` points into the query.  0, ERR_USAGE without a sentence (it says what the
 * table says), or any code with one. */
typedef int parse_fn(struct query *q, const struct parse_key *key, void *to, const char *value,
                     struct err *err);

struct parse_key {
    const char *name, *value, *help;
    enum query_about about;
    parse_fn *read;
    size_t to;       /* offset in struct query */
    unsigned choice; /* what a reader that serves several keys should do */
};

/* Choices of parse_thread, and of parse_pattern (with an enum query_field). */
enum { PARSE_THREADS, PARSE_FREEING_THREADS };
enum { PARSE_NEGATED = 8, PARSE_FREEING = 16 };

parse_fn parse_size, parse_duration, parse_count, parse_address, parse_time, parse_amount, parse_text,
    parse_side, parse_state, parse_kinds, parse_mapped, parse_arena, parse_right, parse_split, parse_want,
    parse_ticks, parse_temporary, parse_numbers, parse_thread, parse_pattern;

#endif

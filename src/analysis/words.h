/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * words: texts that are kept once.  Equal bytes give the same pointer, so that
 * names are compared, hashed and grouped as pointers.
 *
 * Everything lives until words_release.  Not for several threads.
 */
#ifndef HW_ANALYSIS_WORDS_H
#define HW_ANALYSIS_WORDS_H

#include <stddef.h>

#include "tool/arena.h"
#include "tool/map.h"

struct words {
    struct arena arena;
    struct map slots; /* hash of the bytes -> struct word */
};

void words_init(struct words *w);
void words_release(struct words *w);

/* The one copy of these bytes, with a NUL behind them.  Any bytes: a struct
 * without padding is a word too.  NULL: no memory. */
const void *words_add(struct words *w, const void *bytes, size_t length);
const char *words_add_text(struct words *w, const char *text);

#endif

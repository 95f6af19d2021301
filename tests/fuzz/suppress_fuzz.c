/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * suppress_fuzz: suppression files and patterns from arbitrary bytes (libFuzzer).
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc tests/fuzz/suppress_fuzz.c \
 *         $(scripts/sources src/engine src/analysis src/store src/tool) -lzstd
 *
 * The pattern matcher is held against another one, which keeps every beginning of the name that
 * fits the pattern so far. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/suppress.h"

enum { NAME_MAX_BYTES = 24, PATTERN_MAX_BYTES = 12 };

/* Whether pattern matches all of name; only * is special. */
static int matches_all(const char *pattern, size_t n, const char *name, size_t m)
{
    int fits[NAME_MAX_BYTES + 1] = {1}; /* fits[j]: the first j bytes do */
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 1; pattern[i] == '*' && j <= m; j++)
            fits[j] |= fits[j - 1];
        for (size_t j = m; pattern[i] != '*' && j > 0; j--)
            fits[j] = fits[j - 1] && name[j - 1] == pattern[i];
        fits[0] &= pattern[i] == '*';
    }
    return fits[m];
}

static int matches_plainly(const char *pattern, const char *name)
{
    char full[PATTERN_MAX_BYTES + 4];
    size_t n = strlen(pattern), length = 0;
    int begin = n > 0 && pattern[0] == '^';
    pattern += begin;
    n -= (size_t)begin;
    int end = n > 0 && pattern[n - 1] == '$';
    n -= (size_t)end;
    if (!begin)
        full[length++] = '*';
    memcpy(full + length, pattern, n);
    length += n;
    if (!end)
        full[length++] = '*';
    return name[0] != '\0' && matches_all(full, length, name, strlen(name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct suppress s;
    struct err err;
    char pattern[PATTERN_MAX_BYTES + 1] = "", name[NAME_MAX_BYTES + 1] = "";
    suppress_init(&s);
    err_init(&err);
    int code = suppress_add_text(&s, "fuzz", (const char *)data, size, &err);
    if ((code != 0) != (err.text[0] != '\0'))
        abort();
    for (size_t i = 0; i < s.rules.count; i++) {
        if (s.rules.data[i].pattern[0] == '\0')
            abort();
    }
    suppress_release(&s);
    size_t n = size < PATTERN_MAX_BYTES ? size : PATTERN_MAX_BYTES;
    memcpy(pattern, data, n);
    size_t m = size - n < NAME_MAX_BYTES ? size - n : NAME_MAX_BYTES;
    memcpy(name, data + n, m);
    if (suppress_matches(pattern, name) != (matches_plainly(pattern, name) != 0))
        abort();
    return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * suppress_fuzz: suppression files and patterns from arbitrary bytes (libFuzzer).
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc tests/fuzz/suppress_fuzz.c \
 *         $(scripts/sources src/query src/store src/tool) -lzstd
 *
 * The pattern matcher is held against a slow one that tries everything. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "query/suppress.h"

enum { NAME_MAX_BYTES = 24, PATTERN_MAX_BYTES = 12 };

/* Whether pattern matches all of name; only * is special. */
static int matches_all(const char *pattern, size_t n, const char *name, size_t m)
{
    if (n == 0)
        return m == 0;
    if (*pattern == '*')
        return matches_all(pattern + 1, n - 1, name, m) ||
               (m > 0 && matches_all(pattern, n, name + 1, m - 1));
    return m > 0 && *pattern == *name && matches_all(pattern + 1, n - 1, name + 1, m - 1);
}

static int matches_slowly(const char *pattern, const char *name)
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
    if (suppress_matches(pattern, name) != (matches_slowly(pattern, name) != 0))
        abort();
    return 0;
}

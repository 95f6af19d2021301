/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * budget_fuzz: files of limits from arbitrary bytes (libFuzzer).
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc tests/fuzz/budget_fuzz.c \
 *         $(scripts/sources src/engine src/analysis src/store src/tool) -lzstd
 *
 * Whatever is refused is refused with a sentence that names file and line. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/budget.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct budget b;
    struct err err;
    budget_init(&b);
    err_init(&err);
    int code = budget_read(&b, "ci/limits.toml", (const char *)data, size, &err);
    if (code != 0 && strncmp(err.text, "ci/limits.toml, line ", 21) != 0)
        abort();
    if (code == 0 && err.text[0] != '\0')
        abort();
    for (size_t i = 0; i < b.suppressions.count; i++) {
        if (strncmp(b.suppressions.data[i], "ci/", 3) != 0 && b.suppressions.data[i][0] != '/')
            abort();
    }
    if (b.has_growth && !(b.growth_percent >= 0))
        abort();
    budget_release(&b);
    return 0;
}

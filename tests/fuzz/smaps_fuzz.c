/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * smaps_fuzz: arbitrary bytes as /proc/PID/smaps (libFuzzer).
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc tests/fuzz/smaps_fuzz.c \
 *         src/collect/smaps.c src/tool/mapline.c
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collect/smaps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the text says, ranges rise and hold no more than they have room for. */
static bool take(void *of, const struct wake_usage *u)
{
    uint64_t *last = of, room = u->end - u->start;
    if (u->start < *last || u->start >= u->end || u->rss_bytes > room || u->anonymous_bytes > u->rss_bytes ||
        u->swap_bytes > room || u->rights > 15 || strlen(u->name) > SMAPS_NAME_MAX)
        abort();
    *last = u->end;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t last = 0;
    (void)smaps_parse((const char *)data, size, take, &last);
    return 0;
}

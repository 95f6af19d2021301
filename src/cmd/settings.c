/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * settings: see settings.h. One line a variable.
 */
#include "cmd/settings.h"

#include "cmd/keeping.h"

#include "tool/strbuf.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static bool settings_is_number(const char *text, unsigned long low, unsigned long high)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    unsigned long value = strtoul(text, &end, 10);
    return *end == '\0' && value >= low && value <= high;
}

static bool settings_is_depth(const char *text)
{
    return settings_is_number(text, 1, 1ul << 17);
}

static bool settings_is_switch(const char *text)
{
    return settings_is_number(text, 0, 1);
}

static bool settings_is_answer(const char *text)
{
    return strcmp(text, "yes") == 0 || strcmp(text, "no") == 0;
}

static const struct {
    const char *name;
    bool (*is_sound)(const char *text);
    const char *expected;
    const char *otherwise;
} settings[] = {
    {"HEAPWAKE_DEPTH", settings_is_depth, "no number from 1 to 131072", "stacks are recorded whole"},
    {"HEAPWAKE_MMAP", settings_is_switch, "neither 0 nor 1", "mappings are recorded"},
    {"HEAPWAKE_CHILDREN", settings_is_answer, "neither yes nor no", "children are recorded"},
    {"HEAPWAKE_SYMBOLS", settings_is_switch, "neither 0 nor 1", "names are looked up"},
    {"HEAPWAKE_EMBED_BINARIES", settings_is_switch, "neither 0 nor 1", "binaries are left out"},
    {"HEAPWAKE_CULL", settings_is_switch, "neither 0 nor 1", "nothing is culled"},
    {"HEAPWAKE_CULL_MS", keeping_is_milliseconds, "no number from 1 to 86400000", "10000 is used"},
    {"HEAPWAKE_CULL_PENDING", keeping_is_pending, "no number from 1 to 268435456", "1048576 is used"},
    {"HEAPWAKE_SAMPLE", keeping_is_sample, "no size such as 512K", "every block is recorded"},
    {"HEAPWAKE_ROTATE", keeping_is_rotate, "neither a size from 64K nor a time from 100ms",
     "there is one file"},
    {"HEAPWAKE_MAX_SIZE", keeping_is_size, "no size of at least 1M", "the file has no limit"},
};

void settings_check(struct logging *log)
{
    struct strbuf text;
    strbuf_init(&text);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *value = getenv(settings[i].name);
        if (value == NULL || value[0] == '\0' || settings[i].is_sound(value))
            continue;
        strbuf_clear(&text);
        strbuf_addf(&text, "%s is '%s', which is %s; %s.", settings[i].name, value, settings[i].expected,
                    settings[i].otherwise);
        logging_say(log, LEVEL_WARN, strbuf_get(&text));
    }
    strbuf_release(&text);
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * settings: see settings.h. One line a variable.
 */
#include "cmd/settings.h"

#include "cmd/command.h"
#include "cmd/keeping.h"
#include "tool/strbuf.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS_MAP_USAGE "1000"

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

static bool settings_is_wish(const char *text)
{
    return strcmp(text, "toggle") == 0 || strcmp(text, "report") == 0 || strcmp(text, "tag") == 0;
}

static bool settings_is_pool(const char *text)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    unsigned long value = strtoul(text, &end, 10);
    static const char units[] = "KMG";
    const char *unit = *end == '\0' ? NULL : strchr(units, *end & ~0x20);
    if (*end != '\0' && (unit == NULL || *unit == '\0' || end[1] != '\0'))
        return false;
    unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - units + 1);
    return value <= 1ul << 30 && value << shift >= 1ul << 20 && value << shift <= 512ul << 20;
}

static bool settings_is_name(const char *text)
{
    return text[0] != '\0';
}

/* otherwise: what happens when the variable makes no sense; NULL: that is said elsewhere. */
static const struct {
    const char *name;
    bool (*is_sound)(const char *text);
    const char *expected;
    const char *otherwise;
} settings[] = {
    {"HEAPWAKE_ENABLED", settings_is_switch, "neither 0 nor 1", "recording begins at once"},
    {"HEAPWAKE_DEPTH", settings_is_depth, "no number from 1 to 131072", "stacks are recorded whole"},
    {"HEAPWAKE_MMAP", settings_is_switch, "neither 0 nor 1", "mappings are recorded"},
    {"HEAPWAKE_FREE_STACKS", settings_is_switch, "neither 0 nor 1", "frees are recorded without stacks"},
    {"HEAPWAKE_PRECISE_TIMESTAMPS", settings_is_switch, "neither 0 nor 1",
     "events close together share a time"},
    {"HEAPWAKE_ZERO_MEMORY", settings_is_switch, "neither 0 nor 1", "memory is as the allocator gives it"},
    {"HEAPWAKE_POOL", settings_is_pool, "no size from 1M to 512M", "buffers take up to 32M"},
    {"HEAPWAKE_SIGUSR1", settings_is_wish, "neither toggle, report nor tag",
     "SIGUSR1 is left to the program"},
    {"HEAPWAKE_SIGUSR2", settings_is_wish, "neither toggle, report nor tag",
     "SIGUSR2 is left to the program"},
    {"HEAPWAKE_CULL", settings_is_switch, "neither 0 nor 1", "nothing is culled"},
    {"HEAPWAKE_CULL_MS", keeping_is_milliseconds, "no number from 1 to 86400000", "10000 is used"},
    {"HEAPWAKE_CULL_PENDING", keeping_is_pending, "no number from 1 to 268435456", "1048576 is used"},
    {"HEAPWAKE_SAMPLE", keeping_is_sample, "no size such as 512K", "every block is recorded"},
    {"HEAPWAKE_ROTATE", keeping_is_rotate, "neither a size from 64K nor a time from 100ms",
     "there is one file"},
    {"HEAPWAKE_MAX_SIZE", keeping_is_size, "no size of at least 1M", "the file has no limit"},
    {"HEAPWAKE_MAP_USAGE", keeping_is_map_usage, "neither 0 nor a number of milliseconds from 10 to 3600000",
     "the use of mappings is not sampled"},
    {"HEAPWAKE_LOG", logging_is_level, "none of trace, debug, info, warn, error", NULL},
    {"HEAPWAKE_LOGFILE", settings_is_name, "no name of a file", NULL},
    {"HEAPWAKE_CHILDREN", settings_is_answer, "neither yes nor no", "children are recorded"},
    {"HEAPWAKE_SYMBOLS", settings_is_switch, "neither 0 nor 1", "names are looked up"},
    {"HEAPWAKE_EMBED_BINARIES", settings_is_switch, "neither 0 nor 1", "binaries are left out"},
};

void settings_check(struct logging *log)
{
    struct strbuf text;
    strbuf_init(&text);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *value = getenv(settings[i].name);
        if (value == NULL || value[0] == '\0' || settings[i].otherwise == NULL || settings[i].is_sound(value))
            continue;
        strbuf_clear(&text);
        strbuf_addf(&text, "%s is '%s', which is %s; %s.", settings[i].name, value, settings[i].expected,
                    settings[i].otherwise);
        logging_say(log, LEVEL_WARN, strbuf_get(&text));
    }
    strbuf_release(&text);
}

/* "--cull-ms" as "HEAPWAKE_CULL_MS" */
static void settings_name(char *name, size_t size, const char *option)
{
    size_t length = (size_t)snprintf(name, size, "HEAPWAKE_%s", option + strspn(option, "-"));
    for (size_t i = 0; i < length && i + 1 < size; i++)
        name[i] = name[i] == '-' ? '_' : (char)toupper((unsigned char)name[i]);
}

/* yes and no, as record's options have them, are 1 and 0; an option without a value is a switch. */
static const char *settings_translate(const struct option *o, const char *value)
{
    if (value == NULL)
        return o->argument == NULL ? "1" : SETTINGS_MAP_USAGE;
    if (o->argument == NULL || strcmp(o->argument, "yes|no") != 0)
        return value;
    return strcmp(value, "yes") == 0 ? "1" : strcmp(value, "no") == 0 ? "0" : value;
}

int settings_set(void *to, const struct option *o, const char *value, struct err *err)
{
    char name[64];
    const char *text = settings_translate(o, value);
    (void)to;
    settings_name(name, sizeof name, o->names);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (strcmp(settings[i].name, name) != 0)
            continue;
        if (!settings[i].is_sound(text))
            return err_set(err, ERR_USAGE, "%s is given '%s', which is %s.", o->names, value,
                           settings[i].is_sound == settings_is_switch ? "neither yes nor no"
                                                                      : settings[i].expected);
        return setenv(name, text, 1) == 0 ? 0 : err_no_memory(err);
    }
    return err_set(err, ERR_USAGE, "No variable stands for %s.", o->names);
}

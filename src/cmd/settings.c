/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * settings: see settings.h. One line a variable.
 */
#include "cmd/settings.h"

#include "cmd/command.h"
#include "cmd/keeping.h"
#include "tool/strbuf.h"

#include <stddef.h>
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

/* option: that of `heapwake record`, NULL where record has it for itself; a switch has no value and means 1.
 * otherwise: what happens when the variable makes no sense; NULL: that is said elsewhere. */
static const struct {
    const char *name;
    const char *option;
    bool is_switch;
    bool (*is_sound)(const char *text);
    const char *expected;
    const char *otherwise;
} settings[] = {
    {"HEAPWAKE_ENABLED", "--enabled", false, settings_is_switch, "neither 0 nor 1",
     "recording begins at once"},
    {"HEAPWAKE_DEPTH", "--depth", false, settings_is_depth, "no number from 1 to 131072",
     "stacks are recorded whole"},
    {"HEAPWAKE_MMAP", "--mmap", false, settings_is_switch, "neither 0 nor 1", "mappings are recorded"},
    {"HEAPWAKE_FREE_STACKS", "--free-stacks", true, settings_is_switch, "neither 0 nor 1",
     "frees are recorded without stacks"},
    {"HEAPWAKE_PRECISE_TIMESTAMPS", "--precise-timestamps", true, settings_is_switch, "neither 0 nor 1",
     "events close together share a time"},
    {"HEAPWAKE_ZERO_MEMORY", "--zero-memory", true, settings_is_switch, "neither 0 nor 1",
     "memory is as the allocator gives it"},
    {"HEAPWAKE_POOL", "--pool", false, settings_is_pool, "no size from 1M to 512M", "buffers take up to 32M"},
    {"HEAPWAKE_SIGUSR1", "--sigusr1", false, settings_is_wish, "neither toggle, report nor tag",
     "SIGUSR1 is left to the program"},
    {"HEAPWAKE_SIGUSR2", "--sigusr2", false, settings_is_wish, "neither toggle, report nor tag",
     "SIGUSR2 is left to the program"},
    {"HEAPWAKE_CULL", "--cull", true, settings_is_switch, "neither 0 nor 1", "nothing is culled"},
    {"HEAPWAKE_CULL_MS", "--cull-ms", false, keeping_is_milliseconds, "no number from 1 to 86400000",
     "10000 is used"},
    {"HEAPWAKE_CULL_PENDING", "--cull-pending", false, keeping_is_pending, "no number from 1 to 268435456",
     "1048576 is used"},
    {"HEAPWAKE_SAMPLE", "--sample", false, keeping_is_sample, "no size such as 512K",
     "every block is recorded"},
    {"HEAPWAKE_ROTATE", "--rotate", false, keeping_is_rotate, "neither a size from 64K nor a time from 100ms",
     "there is one file"},
    {"HEAPWAKE_MAX_SIZE", "--max-size", false, keeping_is_size, "no size of at least 1M",
     "the file has no limit"},
    {"HEAPWAKE_MAP_USAGE", "--map-usage", false, keeping_is_map_usage,
     "neither 0 nor a number of milliseconds from 10 to 3600000", "the use of mappings is not sampled"},
    {"HEAPWAKE_LOG", "--log", false, logging_is_level, "none of trace, debug, info, warn, error", NULL},
    {"HEAPWAKE_LOGFILE", "--logfile", false, settings_is_name, "no name of a file", NULL},
    {"HEAPWAKE_CHILDREN", NULL, false, settings_is_answer, "neither yes nor no", "children are recorded"},
    {"HEAPWAKE_SYMBOLS", NULL, false, settings_is_switch, "neither 0 nor 1", "names are looked up"},
    {"HEAPWAKE_EMBED_BINARIES", NULL, false, settings_is_switch, "neither 0 nor 1", "binaries are left out"},
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

/* yes and no, as record's options have them, are 1 and 0. */
static const char *settings_translate(const char *value, bool is_switch)
{
    if (!is_switch)
        return value;
    return strcmp(value, "yes") == 0 ? "1" : strcmp(value, "no") == 0 ? "0" : value;
}

int settings_take(char **argv, int *at)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *value = "1";
        if (settings[i].option == NULL)
            continue;
        if (settings[i].is_sound == keeping_is_map_usage && strcmp(argv[*at], settings[i].option) == 0)
            value = SETTINGS_MAP_USAGE; /* it may stand alone */
        else if (!command_option(argv, at, settings[i].option, settings[i].is_switch ? NULL : &value))
            continue;
        bool is_answer = settings[i].is_sound == settings_is_switch;
        const char *text = settings_translate(value, is_answer);
        if (!settings[i].is_sound(text))
            return command_misused("%s is given '%s', which is %s.", settings[i].option, value,
                                   is_answer ? "neither yes nor no" : settings[i].expected);
        return setenv(settings[i].name, text, 1) == 0 ? EXIT_DONE : EXIT_FAILED;
    }
    return SETTINGS_NONE;
}

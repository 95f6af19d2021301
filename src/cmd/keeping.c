/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * keeping: see keeping.h.  One table: variable, option, what it takes.
 */
#include "cmd/keeping.h"

#include "cmd/command.h"
#include "query/quantity.h"

#include <string.h>

#define MS UINT64_C(1000000)

enum {
    KEEPING_CULL_MS = 10000,
    KEEPING_CULL_MS_MAX = 86400 * 1000,
    KEEPING_PENDING = 1 << 20,
    KEEPING_PENDING_MAX = 1 << 28,
    KEEPING_SIZE_MIN = 1 << 20,
    KEEPING_ROTATE_MIN = 64 << 10,
};

#define KEEPING_ROTATE_NS_MIN (100 * MS)

#define KEEPING_SAMPLE_MAX (UINT64_C(1) << 40)

/* Each sets what a text says; false: it makes no sense. */

static bool keeping_set_cull(struct output_keeping *k, const char *text)
{
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return false;
    k->is_culled = text[0] == '1';
    return true;
}

static bool keeping_set_milliseconds(struct output_keeping *k, const char *text)
{
    uint64_t ms;
    if (!quantity_count(text, &ms) || ms == 0 || ms > KEEPING_CULL_MS_MAX)
        return false;
    k->cull.threshold_ns = ms * MS;
    return true;
}

static bool keeping_set_pending(struct output_keeping *k, const char *text)
{
    uint64_t events;
    if (!quantity_count(text, &events) || events == 0 || events > KEEPING_PENDING_MAX)
        return false;
    k->cull.pending = (size_t)events;
    return true;
}

static bool keeping_set_max_size(struct output_keeping *k, const char *text)
{
    uint64_t bytes;
    if (!quantity_size(text, &bytes) || bytes < KEEPING_SIZE_MIN)
        return false;
    k->max_bytes = bytes;
    return true;
}

/* A size, or a duration with its unit. */
static bool keeping_set_rotate(struct output_keeping *k, const char *text)
{
    uint64_t bytes, ns;
    size_t digits = strspn(text, "0123456789.");
    if (quantity_size(text, &bytes)) {
        k->rotate_bytes = bytes;
        return bytes >= KEEPING_ROTATE_MIN;
    }
    if (text[digits] == '\0' || !quantity_duration(text, &ns) || ns < KEEPING_ROTATE_NS_MIN)
        return false;
    k->rotate_ns = ns;
    return true;
}

bool keeping_is_rotate(const char *text)
{
    struct output_keeping k;
    return keeping_set_rotate(&k, text);
}

static bool keeping_set_sample(struct output_keeping *k, const char *text)
{
    uint64_t bytes;
    if (!quantity_size(text, &bytes) || bytes > KEEPING_SAMPLE_MAX)
        return false;
    k->sample_bytes = bytes;
    return true;
}

bool keeping_is_sample(const char *text)
{
    /* As the probe reads it: digits, and K, M or G. */
    struct output_keeping k;
    return text[strspn(text, "0123456789")] != 'B' && strpbrk(text, ".iB") == NULL &&
           keeping_set_sample(&k, text);
}

bool keeping_is_milliseconds(const char *text)
{
    struct output_keeping k;
    return keeping_set_milliseconds(&k, text);
}

bool keeping_is_pending(const char *text)
{
    struct output_keeping k;
    return keeping_set_pending(&k, text);
}

bool keeping_is_size(const char *text)
{
    struct output_keeping k;
    return keeping_set_max_size(&k, text);
}

static const struct {
    const char *variable;
    const char *option;
    bool has_value; /* without: the option means 1 */
    bool (*set)(struct output_keeping *k, const char *text);
    const char *expected;
} keeping_list[] = {
    {"HEAPWAKE_CULL", "--cull", false, keeping_set_cull, "nothing"},
    {"HEAPWAKE_CULL_MS", "--cull-ms", true, keeping_set_milliseconds, "milliseconds, 1 to 86400000"},
    {"HEAPWAKE_CULL_PENDING", "--cull-pending", true, keeping_set_pending,
     "a number of events, 1 to 268435456"},
    {"HEAPWAKE_SAMPLE", "--sample", true, keeping_set_sample, "a size, such as 512K"},
    {"HEAPWAKE_ROTATE", "--rotate", true, keeping_set_rotate,
     "a size of at least 64K or a time of at least 100ms, such as 1G or 10min"},
    {"HEAPWAKE_MAX_SIZE", "--max-size", true, keeping_set_max_size, "a size of at least 1M, such as 500M"},
};

void keeping_read(struct output_keeping *k, keeping_get_fn *get, void *of)
{
    *k = (struct output_keeping){.cull = {.threshold_ns = KEEPING_CULL_MS * MS, .pending = KEEPING_PENDING}};
    for (size_t i = 0; i < sizeof keeping_list / sizeof *keeping_list; i++) {
        const char *text = get(of, keeping_list[i].variable);
        if (text != NULL && text[0] != '\0')
            (void)keeping_list[i].set(k, text);
    }
}

int keeping_take(struct output_keeping *k, char **argv, int *at, struct err *err)
{
    for (size_t i = 0; i < sizeof keeping_list / sizeof *keeping_list; i++) {
        const char *value = "1";
        if (!command_option(argv, at, keeping_list[i].option, keeping_list[i].has_value ? &value : NULL))
            continue;
        if (keeping_list[i].set(k, value))
            return 1;
        return err_set(err, ERR_USAGE, "%s takes %s, not '%s'.", keeping_list[i].option,
                       keeping_list[i].expected, value);
    }
    return 0;
}

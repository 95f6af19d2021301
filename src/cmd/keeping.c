/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * keeping: see keeping.h.  One table: a variable and who reads it.
 */
#include "cmd/keeping.h"

#include "engine/quantity.h"

#include <string.h>

#define MS UINT64_C(1000000)

enum {
    KEEPING_CULL_MS = 10000,
    KEEPING_CULL_MS_MAX = 86400 * 1000,
    KEEPING_PENDING = 1 << 20,
    KEEPING_PENDING_MAX = 1 << 28,
    KEEPING_SIZE_MIN = 1 << 20,
    KEEPING_ROTATE_MIN = 64 << 10,
    KEEPING_ROTATE_TEXT = 32,
    KEEPING_MAP_USAGE_MIN = 10, /* ms */
    KEEPING_MAP_USAGE_MAX = 3600 * 1000,
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
static bool keeping_set_rotate_one(struct output_keeping *k, const char *text)
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

/* One of these, or both with a comma between them. */
static bool keeping_set_rotate(struct output_keeping *k, const char *text)
{
    char first[KEEPING_ROTATE_TEXT];
    struct output_keeping said = {0};
    size_t length = strcspn(text, ",");
    if (length >= sizeof first)
        return false;
    memcpy(first, text, length);
    first[length] = '\0';
    if (!keeping_set_rotate_one(&said, first) ||
        (text[length] == ',' && !keeping_set_rotate_one(&said, text + length + 1)))
        return false;
    k->rotate_bytes = said.rotate_bytes;
    k->rotate_ns = said.rotate_ns;
    return true;
}

bool keeping_is_rotate(const char *text)
{
    struct output_keeping k;
    return keeping_set_rotate(&k, text);
}

bool keeping_is_sample(const char *text)
{
    /* As the probe reads it: digits, and K, M or G. */
    uint64_t bytes;
    return strpbrk(text, ".iB") == NULL && quantity_size(text, &bytes) && bytes <= KEEPING_SAMPLE_MAX;
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

/* 0, or milliseconds. */
static bool keeping_find_map_usage(const char *text, uint64_t *ns)
{
    uint64_t ms;
    if (!quantity_count(text, &ms) || (ms != 0 && ms < KEEPING_MAP_USAGE_MIN) || ms > KEEPING_MAP_USAGE_MAX)
        return false;
    *ns = ms * MS;
    return true;
}

bool keeping_is_map_usage(const char *text)
{
    uint64_t ns;
    return keeping_find_map_usage(text, &ns);
}

uint64_t keeping_map_usage(keeping_get_fn *get, void *of)
{
    uint64_t ns = 0;
    const char *text = get(of, "HEAPWAKE_MAP_USAGE");
    if (text != NULL && text[0] != '\0')
        (void)keeping_find_map_usage(text, &ns);
    return ns;
}

static const struct {
    const char *variable;
    bool (*set)(struct output_keeping *k, const char *text);
} keeping_list[] = {
    {"HEAPWAKE_CULL", keeping_set_cull},
    {"HEAPWAKE_CULL_MS", keeping_set_milliseconds},
    {"HEAPWAKE_CULL_PENDING", keeping_set_pending},
    {"HEAPWAKE_ROTATE", keeping_set_rotate},
    {"HEAPWAKE_MAX_SIZE", keeping_set_max_size},
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
